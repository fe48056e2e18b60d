// Records the examples of BYOIP: the ASN of the team is verified, and two prefixes are announced in two regions.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  countAnnouncementsRoute,
  createAnnouncementsRoute,
  deleteAnnouncementRoute,
  getAnnouncementRoute,
  listAnnouncementHistoryRoute,
  listAnnouncementsOfTeamRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
  restoreAnnouncementRoute,
  resumeAnnouncementRoute,
  suspendAnnouncementRoute,
  updateAnnouncementRoute,
  validateAnnouncementRoute,
} from '@pharos/contract/byoip/announcement'
import {
  acceptLetterRoute,
  draftLetterRoute,
  getLetterFileRoute,
  getLetterFileToReviewRoute,
  getLetterPageToReviewRoute,
  getLetterRoute,
  getLetterToReviewRoute,
  listLettersRoute,
  listLettersToReviewRoute,
  rejectLetterRoute,
  uploadLetterRoute,
} from '@pharos/contract/byoip/letter'
import { admin, team, web, web6 } from '@pharos/contract/examples/world'
import {
  getAsnRoute,
  listAsnsOfTeamsRoute,
  listAsnsRoute,
  revokeAsnOfTeamRoute,
  verifyAsnOfTeamRoute,
  verifyAsnRoute,
} from '@pharos/contract/inventory/asn'
import { sql } from 'kysely'
import { waitFor } from '../../../../lab/src/wait.ts'
import { suspendByValidation } from '../../../src/byoip/announcement/suspend-announcement.ts'
import { seedAnnouncement, seedChecks, type Seed } from '../../../src/byoip/announcement/testing.ts'
import { readLetterVerdicts } from '../../../src/byoip/letter/letter.store.ts'
import { authorizationDeps } from '../../../src/byoip/parts.ts'
import { saveObserved } from '../../../src/byoip/regions/reconcile.store.ts'
import { validateAll } from '../../../src/byoip/validation/validate.ts'
import { asnTokens } from '../../../src/inventory/holding/asn-token.ts'
import { parseAsn } from '../../../src/net/asn.ts'
import type { Fence } from '../../../src/reconcile/lease.ts'
import { letterFile, recordingKeys, type Recorder } from './recorder.ts'

const asn = web.origin_asn
/** Acquired by the team together with its holder, who published a ROA. */
const acquiredAsn = 64_497
const letterId = 118
const announcementIn = { params: { announcement_id: web.id } }
const letterIn = { params: { letter_id: letterId } }
const regions = ['ams', 'fra']

/** Calls `use` with settings whose registries contain the objects of the team. */
export async function withRegistries(
  use: (settings: Record<string, string>) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-registries-'))
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return pathToFileURL(join(folder, name)).href
  }
  const [token] = asnTokens(recordingKeys, team.id, parseAsn(asn))
  const objects = [
    `aut-num: AS${asn}\nas-name: LINDHOLM-AS\nremarks: ${token}\nsource: RIPE`,
    `route: ${web.cidr}\norigin: AS${asn}\nsource: RIPE`,
    `route6: ${web6.cidr}\norigin: AS${asn}\nsource: RIPE`,
  ]
  try {
    await use({
      PHAROS_RPKI_SOURCES: write('vrps.json', vrpExport('2026-03-01T00:00:00Z')),
      PHAROS_IRR_SOURCES: write('ripe.rpsl', `${objects.join('\n\n')}\n`),
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function vrpExport(buildtime: string): string {
  const roas = [
    [web.cidr, asn],
    [web6.cidr, asn],
    [web6.cidr, acquiredAsn],
  ].map(([prefix, of]) => ({
    prefix,
    maxLength: Number(String(prefix).split('/')[1]),
    asn: `AS${of}`,
    ta: 'ripe',
  }))
  return JSON.stringify({ metadata: { buildtime }, roas })
}

/** The validator has exported the ROAs at this time, and the server has read them. */
async function exportVrps({ api }: Recorder, time: string): Promise<void> {
  const path = fileURLToPath(api.config.rpkiSources[0]!)
  writeFileSync(`${path}.new`, vrpExport(time))
  renameSync(`${path}.new`, path)
  await waitFor('the export', () => api.shared.rpki.status().sources[0]?.asOf?.toISOString() === time)
}

export const letter = letterFile('loa-lindholm-2026.pdf')

export async function addRegions({ owner }: Recorder): Promise<void> {
  await sql`
    insert into locations (key, name, country, timezone) values
      ('ams', 'Amsterdam', 'NL', 'Europe/Amsterdam'), ('fra', 'Frankfurt', 'DE', 'Europe/Berlin')`.execute(
    owner,
  )
  await sql`
    insert into regions (slug, name, location_key, speakers)
    select key, name, key, jsonb_build_array(jsonb_build_object('name', 'edge1.' || key, 'kind', 'sandbox'))
    from locations order by key`.execute(owner)
}

async function validate({ api, owner }: Recorder): Promise<void> {
  await validateAll({
    ...api.shared,
    db: owner,
    readLetters: readLetterVerdicts,
    authorization: authorizationDeps(api.config),
    irrIntervalSeconds: api.config.irrRecheckSeconds,
    policy: { onLoss: 'warn', graceHours: 72 },
    suspend: suspendByValidation,
    now: () => new Date(),
  })
}

/** The routers have applied all changes, and were compared with the announcements. */
async function reconcile(recorder: Recorder, time: string): Promise<void> {
  const { owner, at } = recorder
  await at(time)
  const { rows } = await sql<{ region: number; id: number; desired: boolean; origin: number }>`
    select ar.region_id as region, a.id, a.enabled and not a.suspended and ar.configured as desired, a.origin_asn as origin
    from announcement_regions ar join announcements a on a.id = ar.announcement_id order by region, id`.execute(
    owner,
  )
  for (const [regionId, ofRegion] of Map.groupBy(rows, ({ region }) => region)) {
    const fence: Fence['fence'] = (db, work) => db.transaction().execute(work)
    await saveObserved(
      owner,
      { regionId, fence },
      ofRegion.map(({ id, desired, origin }) => ({
        announcementId: id,
        desired,
        state: desired ? 'announced' : 'withdrawn',
        reason: null,
        attrs: null,
        announcedOrigin: desired ? origin : null,
      })),
    )
  }
  await checkRegions(recorder)
}

/** The reconcilers have compared the regions with their routers 2 s ago. */
const checkRegions = ({ api }: Recorder): Promise<void> =>
  seedChecks(api.database.postgres, regions, { ageSeconds: 2 })

export async function recordByoip(recorder: Recorder): Promise<void> {
  const { owner, record, call, replace, nextId, at } = recorder
  await addRegions(recorder)
  await nextId('asns', 15)
  await nextId('announcements', web.id)
  await nextId('letters', letterId)
  await nextId('announcement_history', 90_398)
  const [token] = asnTokens(recordingKeys, team.id, parseAsn(asn))
  replace(token, 'pharos-asn-verify=hV3nQ8xK2mR7tYw5hV3nQ8xK')

  await at('2026-03-01T15:30:22.640Z')
  await record(verifyAsnRoute, { params: { asn }, query: { method: ['aut_num'], refresh: true } })
  await sql`update asns set name = ${team.name}`.execute(owner)
  await record(listAsnsRoute, { query: { verified: true } })
  await record(getAsnRoute, { params: { asn } })

  await at('2026-03-02T09:12:39.871Z')
  await exportVrps(recorder, '2026-03-02T09:10:04.000Z')
  await record(createAnnouncementsRoute, {
    query: { include: 'validations' },
    body: {
      cidr: web.cidr,
      origin_asn: asn,
      regions: ['ams'],
      description: 'Web servers',
      loa_signatory: admin.name,
    },
  })
  await call(createAnnouncementsRoute, {
    body: {
      cidr: web6.cidr,
      origin_asn: asn,
      regions,
      description: 'Web servers',
      loa_signatory: admin.name,
    },
  })
  await record(draftLetterRoute, {
    ...announcementIn,
    query: { applies_to: [web6.id], signatory: admin.name, contact: 'noc@lindholm.example' },
  })

  await at('2026-03-02T10:40:12.337Z')
  const fields = { valid_until: '2027-03-01T00:00:00Z', applies_to: [web6.id] }
  await record(uploadLetterRoute, { ...announcementIn, fields }, { file: letter })
  await record(listLettersToReviewRoute, { query: { status: ['pending_review'] } })
  await record(getLetterToReviewRoute, letterIn)
  await record(getLetterFileToReviewRoute, letterIn)
  await record(getLetterPageToReviewRoute, { params: { ...letterIn.params, page: 1 } })
  await at('2026-03-02T13:05:51.770Z')
  await record(acceptLetterRoute, { ...letterIn, body: { valid_until: fields.valid_until } })
  await record(listLettersRoute, { query: { status: ['accepted'] } })
  await record(getLetterRoute, letterIn)
  await record(getLetterFileRoute, letterIn)
  await validate(recorder)

  await at('2026-03-02T13:06:02.399Z')
  for (const { id } of [web, web6])
    await call(updateAnnouncementRoute, { params: { announcement_id: id }, body: { enabled: true } })
  await reconcile(recorder, '2026-03-02T13:06:02.411Z')
  await at('2026-04-01T09:21:06.721Z')
  await checkRegions(recorder)
  await record(updateAnnouncementRoute, { ...announcementIn, body: { enabled: true, region: 'fra' } })
  await reconcile(recorder, '2026-04-01T09:21:06.730Z')
  await record(getAnnouncementRoute, { ...announcementIn, query: { include: 'region_states' } })
  await record(listAnnouncementsRoute, {
    query: { origin_asn: [asn], enabled: true, ordering: 'cidr', limit: 100 },
  })
  await record(listAnnouncementsOfTeamRoute, {
    params: { team_id: team.id },
    query: { status: ['announced'], limit: 100 },
  })
  await record(listAnnouncementHistoryRoute, {
    ...announcementIn,
    query: { kind: ['enabled', 'announced'], ordering: '-at', limit: 2 },
  })
  await record(listRegionsRoute)

  await at('2026-04-01T09:30:12.655Z')
  await checkRegions(recorder)
  await exportVrps(recorder, '2026-04-01T09:28:31.000Z')
  await record(validateAnnouncementRoute, announcementIn)
  await validate(recorder)
  const reason = 'The holder of the prefix has withdrawn the permission. Contact our network desk.'
  await at('2026-04-01T10:02:11.050Z')
  await checkRegions(recorder)
  await record(suspendAnnouncementRoute, { ...announcementIn, body: { reason } })
  await reconcile(recorder, '2026-04-01T10:02:11.062Z')
  await at('2026-04-01T10:14:40.318Z')
  await checkRegions(recorder)
  await record(resumeAnnouncementRoute, announcementIn)
  await reconcile(recorder, '2026-04-01T10:14:40.331Z')

  await at('2026-04-01T10:20:03.204Z')
  const unsigned = await call(
    uploadLetterRoute,
    { ...announcementIn, fields },
    { file: { ...letter, filename: 'loa-lindholm-2027.pdf' } },
  )
  await at('2026-04-01T10:24:51.940Z')
  await record(rejectLetterRoute, {
    params: { letter_id: unsigned.id },
    body: { reason: 'The letter is not signed. Sign it and upload it again.' },
  })
  await recordAsnDecisions(recorder)

  await at('2026-04-01T11:00:20.090Z')
  await call(updateAnnouncementRoute, { ...announcementIn, body: { enabled: false } })
  await reconcile(recorder, '2026-04-01T11:00:20.101Z')
  await record(deleteAnnouncementRoute, announcementIn)
  await record(restoreAnnouncementRoute, announcementIn)
  await addFurther(recorder)
  await reconcile(recorder, '2026-04-01T11:05:31.540Z')
  await record(countAnnouncementsRoute)
}

async function recordAsnDecisions({ record, call, at }: Recorder): Promise<void> {
  const acquired = { params: { asn: acquiredAsn } }
  await at('2026-04-01T10:26:07.415Z')
  await call(verifyAsnRoute, { ...acquired, query: { method: ['roa'], refresh: true } })
  await at('2026-04-01T10:28:33.720Z')
  await record(listAsnsOfTeamsRoute, { query: { asn: [asn] } })
  await record(verifyAsnOfTeamRoute, {
    ...acquired,
    body: { team_id: team.id, reason: 'The former holder confirmed the transfer by telephone.' },
  })
  await at('2026-04-01T10:30:00.118Z')
  await record(revokeAsnOfTeamRoute, {
    ...acquired,
    body: { team_id: team.id, reason: 'The registry assigned the ASN to another organization.' },
  })
}

/** Adds announcements in other states, for the counts. */
async function addFurther({ api, owner }: Recorder): Promise<void> {
  const { postgres } = api.database
  const { rows } = await sql<{ id: number }>`select id from regions order by id`.execute(owner)
  const ids = rows.map(({ id }) => id)
  const add = (block: string, seed: Partial<Seed>) =>
    seedAnnouncement(postgres, { teamId: team.id, prefix: `2001:db8:${block}::/48`, ...seed })
  for (const block of ['b', 'c', 'd', 'e']) await add(block, { enabled: true, regions: ids })
  for (const block of ['10', '11']) await add(block, { regions: ids })
  await add('12', { validated: false })
  const failed = await add('13', { validated: false })
  await sql`update announcements set clearance = 'failed', status = 'validation_failed' where id = ${failed}`.execute(
    owner,
  )
  await add('14', { suspended: true })
  await sql`update announcements set status = 'suspended' where suspended`.execute(owner)
}
