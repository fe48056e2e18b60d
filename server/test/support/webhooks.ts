// Webhooks for generated requests: known ids, restored whenever a test asks.
import { addDelivery, addWebhook } from '../../src/webhook/testing.ts'
import type { TestApi } from '../api.ts'

/** Those of the first team, then that of the second. None leads anywhere: nothing is sent. */
export const webhookIds = [900_001, 900_002, 900_003, 900_004, 900_005, 900_006] as const
/** Of the first webhook. */
export const deliveryIds = [900_001, 900_002, 900_003] as const

const states = ['delivered', 'failed', 'pending'] as const

/** No other webhooks are left. */
export async function renewWebhooks(api: TestApi, teamId: number, otherTeamId: number): Promise<void> {
  const { owner } = api.database.postgres
  const ring = api.config.secret
  await owner.deleteFrom('webhooks').execute()
  for (const id of webhookIds)
    await addWebhook(owner, ring, id === webhookIds.at(-1) ? otherTeamId : teamId, { id })
  for (const [at, id] of deliveryIds.entries())
    await addDelivery(owner, webhookIds[0], { id, state: states[at]! })
}
