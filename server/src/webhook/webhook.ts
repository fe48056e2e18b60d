// Reads webhooks of a team, and builds the response that every operation on one returns. It never contains the secret.
import type { QueryOf } from '@pharos/contract/route'
import type { listWebhooksRoute, Webhook } from '@pharos/contract/messages/webhook'
import type { ChangeAnswer } from '../db/run-change.ts'
import type { Postgres } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { etagOf } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { findWebhook, listWebhookRows, type WebhookRow } from './webhook.store.ts'

type ReadDeps = { readonly postgres: Postgres }

/** Returns a page of the actor's team and the exact count. */
export async function listWebhooks(
  { postgres }: ReadDeps,
  { actor }: Operation,
  query: QueryOf<typeof listWebhooksRoute>,
): Promise<{ results: Webhook[]; count: number }> {
  const { page, count } = await listWebhookRows(postgres, actor.teamId, query)
  return { results: page.map(presentWebhook), count }
}

/** Throws `not_found`. */
export async function getWebhook(
  { postgres }: ReadDeps,
  { actor }: Operation,
  id: number,
): Promise<ChangeAnswer<Webhook>> {
  const row = await findWebhook(postgres, actor.teamId, id)
  if (!row) throw notFound('webhook')
  return answerWith(row)
}

/**
 * Sending changes the shown state of a webhook but not its version: it does not cause precondition failures for the
 * team.
 */
export const tagOf = ({ version, failing_since, last_delivery }: WebhookRow): string =>
  etagOf(version, [failing_since, last_delivery])

export const answerWith = (row: WebhookRow) => ({ body: presentWebhook(row), etag: tagOf(row) })

export function presentWebhook({ version: _version, ...row }: WebhookRow): Webhook {
  return {
    ...row,
    created: row.created.toISOString(),
    modified: row.modified.toISOString(),
    failing_since: row.failing_since?.toISOString() ?? null,
    last_delivery: row.last_delivery?.toISOString() ?? null,
  }
}
