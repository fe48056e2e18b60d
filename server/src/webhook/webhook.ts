// Webhooks of a team: reading them, and what every answer about one has in common. The secret is never among it.
import type { QueryOf } from '@pharos/contract/route'
import type { listWebhooksRoute, Webhook } from '@pharos/contract/webhook'
import type { Answer } from '../db/mutate.ts'
import type { Postgres } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { etagOf } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { findWebhook, listWebhookRows, type WebhookRow } from './webhook.store.ts'

type ReadDeps = { readonly postgres: Postgres }

/** A page of the actor's team and the exact count. */
export async function listWebhooks(
  { postgres }: ReadDeps,
  { actor }: Operation,
  query: QueryOf<typeof listWebhooksRoute>,
): Promise<{ results: Webhook[]; count: number }> {
  const { page, count } = await listWebhookRows(postgres, actor.teamId, query)
  return { results: page.map(present), count }
}

/** Throws `not_found`. */
export async function getWebhook(
  { postgres }: ReadDeps,
  { actor }: Operation,
  id: number,
): Promise<Answer<Webhook>> {
  const row = await findWebhook(postgres, actor.teamId, id)
  if (!row) throw notFound('webhook')
  return answerWith(row)
}

/** Sending changes what is shown of a webhook and not its version: no change of a team's is refused for it. */
export const tagOf = ({ version, failing_since, last_delivery }: WebhookRow): string =>
  etagOf(version, [failing_since, last_delivery])

export const answerWith = (row: WebhookRow) => ({ body: present(row), etag: tagOf(row) })

export function present({ version: _version, ...row }: WebhookRow): Webhook {
  return {
    ...row,
    created: row.created.toISOString(),
    modified: row.modified.toISOString(),
    failing_since: row.failing_since?.toISOString() ?? null,
    last_delivery: row.last_delivery?.toISOString() ?? null,
  }
}
