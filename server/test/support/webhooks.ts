// Webhooks for generated requests, with fixed ids; tests can restore them.
import { addDelivery, addWebhook } from '../../src/webhook/testing.ts'
import type { TestApi } from '../api.ts'

/**
 * The last webhook belongs to the second team, the others to the first. No endpoint is reachable, so messages are never
 * delivered.
 */
export const webhookIds = [900_001, 900_002, 900_003, 900_004, 900_005, 900_006] as const
/** Deliveries of the first webhook. */
export const deliveryIds = [900_001, 900_002, 900_003] as const

const states = ['delivered', 'failed', 'pending'] as const

/** Deletes all other webhooks and restores these. */
export async function restoreWebhooks(api: TestApi, teamId: number, otherTeamId: number): Promise<void> {
  const { owner } = api.database.postgres
  const ring = api.config.secret
  await owner.deleteFrom('webhooks').execute()
  for (const id of webhookIds)
    await addWebhook(owner, ring, id === webhookIds.at(-1) ? otherTeamId : teamId, { id })
  for (const [at, id] of deliveryIds.entries())
    await addDelivery(owner, webhookIds[0], { id, state: states[at]! })
}
