// Records the examples of shield: an amplification attack on a host of the team, rules against it, and a black hole.
import { eventId, web } from '@pharos/contract/examples/world'
import {
  createBlackholeRoute,
  deleteBlackholeRoute,
  getBlackholeRoute,
  listBlackholesRoute,
} from '@pharos/contract/shield/blackhole'
import {
  listShieldListsRoute,
  listShieldRulesRoute,
  revertShieldListRoute,
  simulateShieldRoute,
  updateShieldRulesRoute,
} from '@pharos/contract/shield/shield'
import { getShieldTrafficRoute } from '@pharos/contract/shield/shield-traffic'
import { suggestShieldRulesRoute } from '@pharos/contract/shield/suggestion'
import { sql } from 'kysely'
import { insertFlows } from '../../../src/flow/testing.ts'
import {
  addNetwork,
  allowed,
  atWithFlows,
  ban,
  createFlows,
  createReconcile,
  deliver,
  denied,
  host,
} from './attack.ts'
import type { Recorder } from './recorder.ts'

const listId = 71
const blackholeIn = { params: { blackhole_id: 12 } }

export async function recordShield(recorder: Recorder): Promise<void> {
  const { api, record, call, at, nextId } = recorder
  const reconcile = createReconcile(recorder)
  await addNetwork(recorder)
  await nextId('shield_lists', listId)
  await nextId('shield_rules', 901)
  await at('2026-03-02T09:14:07.318Z')
  await call(updateShieldRulesRoute, { body: { prefix: web.cidr, rules: [allowed] } })
  await reconcile('2026-03-02T09:14:07.502Z')
  await insertFlows(api.shared.flowStore, createFlows())
  await deliver(recorder, ban)

  await atWithFlows(recorder, '2026-04-01T03:16:02.204Z')
  await record(suggestShieldRulesRoute, { params: { event_id: eventId }, body: { action: 'deny' } })
  await atWithFlows(recorder, '2026-04-01T03:17:31.010Z')
  const rules = [allowed, denied]
  await record(simulateShieldRoute, {
    body: { prefix: web.cidr, rules, start: '2026-04-01T02:17:31Z', end: '2026-04-01T03:17:31Z' },
  })
  await atWithFlows(recorder, '2026-04-01T03:18:31.204Z')
  await nextId('shield_rules', 914)
  await record(updateShieldRulesRoute, {
    body: { prefix: web.cidr, rules, version: 1, confirm_within: 600 },
  })
  await reconcile('2026-04-01T03:18:31.390Z')
  await reconcile('2026-04-01T03:19:44.190Z', {
    901: { packets: 310_442, bytes: 46_566_300 },
    914: { packets: 24_811_730, bytes: 34_984_539_300 },
  })
  await at('2026-04-01T03:19:50.000Z')
  await record(listShieldRulesRoute, { query: { prefix: [web.cidr], include: 'hits' } })
  await record(listShieldListsRoute, { query: { prefix: [host] } })
  await record(getShieldTrafficRoute, {
    query: {
      prefix: web.cidr,
      start: '2026-04-01T03:16:00Z',
      end: '2026-04-01T03:19:00Z',
      interval: 60,
    },
  })

  await recordBlackholes(recorder)

  await at('2026-04-01T03:27:12.641Z')
  await record(revertShieldListRoute, { params: { list_id: listId }, body: { version: 2 } })
}

async function recordBlackholes(recorder: Recorder): Promise<void> {
  const { record, at, nextId, owner } = recorder
  await nextId('blackholes', blackholeIn.params.blackhole_id)
  await atWithFlows(recorder, '2026-04-01T03:20:12.083Z')
  await record(createBlackholeRoute, {
    body: { host, expires: '2026-04-01T04:20:12.083Z', comment: 'Ticket 4711' },
  })
  await at('2026-04-01T03:20:12.391Z')
  await sql`update blackhole_regions set state = 'announced', since = now(), settled = now()`.execute(owner)
  await at('2026-04-01T03:21:00.000Z')
  await record(listBlackholesRoute, { query: { ongoing: true } })
  await record(getBlackholeRoute, blackholeIn)
  await at('2026-04-01T03:24:03.550Z')
  await record(deleteBlackholeRoute, blackholeIn)
}
