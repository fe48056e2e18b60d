// The zones of the demo: an answered one, a signed one, and reverse DNS of a prefix. They are imported like any zone
// file, as a user of the demo team would, and only into a database without zones.
import { randomUUID } from 'node:crypto'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { enableForNewZone } from '../../server/src/dns/dnssec/request-dnssec.ts'
import { importZone } from '../../server/src/dns/import/import-zone.ts'
import type { UserActor } from '../../server/src/operation/operation.ts'
import type { KeyRing } from '../../server/src/runtime/secrets.ts'
import { findTeamAdmin, hasZones } from './demo.store.ts'

const zones = [
  { name: 'harbor.example', dnssec: false },
  { name: 'lighthouse.example', dnssec: true },
  { name: '113.0.203.in-addr.arpa', dnssec: false },
]

export async function addDemoZones(
  postgres: Postgres,
  ring: KeyRing,
  now: Date,
  readDemo: (name: string) => string,
): Promise<void> {
  const admin = await findTeamAdmin(postgres.owner, 'demo')
  if (!admin || (await hasZones(postgres.owner))) return
  const { teamId, userId } = admin
  const actor: UserActor = {
    kind: 'user',
    teamId,
    userId,
    sessionId: 'demo',
    roles: ['admin'],
    isStaff: false,
    staffRoles: [],
    access: null,
    modules: ['dns'],
    limits: null,
    isLocal: true,
    blockedBy: null,
  }
  const deps = {
    postgres,
    ring,
    rules: { allowDocumentation: true },
    enableDnssec: enableForNewZone({ ring, now: () => now }),
    transferSource: null,
    serverRules: { networks: [], ports: [] },
    now: () => now,
  }
  for (const { name, dnssec } of zones) {
    const operation = {
      actor,
      requestId: randomUUID(),
      address: '127.0.0.1',
      dryRun: false,
      ifMatch: null,
      idempotency: null,
    }
    const zonefile = readDemo(`zones/${name}.zone`)
    await importZone(deps, operation, { name, zonefile, mode: 'create', dnssec })
  }
}
