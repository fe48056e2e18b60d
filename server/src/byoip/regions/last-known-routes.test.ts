import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parsePrefix } from '../../net/prefix.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import {
  createLastKnownRoutesFiles,
  lastKnownRoutesAgeMsMax,
  type LastKnownRoutes,
} from './last-known-routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-plans-'))
after(() => rmSync(folder, { recursive: true }))
const ring = createKeyRing(['r'.repeat(32)])
const at = new Date('2026-03-01T12:00:00Z')
const plan: LastKnownRoutes = {
  region: {
    id: 1,
    slug: 'ams',
    speakers: [{ name: 'r1' }],
    quorum: null,
    communities: [],
    largeCommunities: [],
  },
  routers: [
    {
      name: 'r1',
      routes: [
        {
          prefix: parsePrefix('192.0.2.0/24'),
          asPath: [64496],
          nextHop: '0.0.0.0',
          communities: [],
          largeCommunities: [],
        },
      ],
    },
  ],
  at: at.toISOString(),
}

describe('kept plans', () => {
  const problems: [string, string][] = []
  const report = (file: string, problem: string) => void problems.push([file, problem])

  it('are loaded as they were saved, sealed and for this account only', async () => {
    const plans = createLastKnownRoutesFiles(join(folder, 'a'), ring)
    assert.deepEqual(plans.load(at, report), [])
    await plans.save(plan)
    const file = join(folder, 'a', 'ams.plan')
    assert.doesNotMatch(readFileSync(file, 'latin1'), /192\.0\.2/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(plans.load(at, report), [plan])
    await plans.remove(plan.region)
    assert.equal(existsSync(file), false)
    assert.deepEqual(problems, [])
  })

  it('are not used if they are old, changed, renamed or sealed by another installation', async () => {
    const plans = createLastKnownRoutesFiles(join(folder, 'b'), ring)
    await plans.save(plan)
    assert.deepEqual(plans.load(new Date(at.getTime() + lastKnownRoutesAgeMsMax + 1), report), [])
    assert.match(problems.at(-1)![1], /24 h old/)
    const file = join(folder, 'b', 'ams.plan')
    const sealed = readFileSync(file)
    writeFileSync(join(folder, 'b', 'fra.plan'), sealed)
    await createLastKnownRoutesFiles(join(folder, 'b'), createKeyRing(['s'.repeat(32)])).save({
      ...plan,
      region: { ...plan.region, slug: 'lon' },
    })
    sealed[sealed.length - 1]! ^= 1
    writeFileSync(file, sealed)
    assert.deepEqual(plans.load(at, report), [])
    assert.deepEqual(
      new Set(problems.slice(1).map(([name]) => name)),
      new Set(['ams.plan', 'fra.plan', 'lon.plan']),
    )
  })
  it('are saved and removed in the order of the calls, also after one that failed', async () => {
    const plans = createLastKnownRoutesFiles(join(folder, 'c'), ring)
    const file = join(folder, 'c', 'ams.plan')
    const later = { ...plan, at: new Date(at.getTime() + 1).toISOString() }
    await Promise.all([plans.save(plan), plans.save(later)])
    assert.deepEqual(plans.load(at, report), [later])
    await Promise.all([plans.save(plan), plans.remove(plan.region)])
    assert.equal(existsSync(file), false)
    await Promise.all([plans.save(plan), plans.remove(plan.region), plans.save(later)])
    assert.deepEqual(plans.load(at, report), [later])
    await plans.remove(plan.region)
    mkdirSync(file)
    const failed = plans.save(plan)
    const removed = plans.remove({ slug: 'other' })
    await assert.rejects(failed)
    await removed
    rmdirSync(file)
    await plans.save(plan)
    assert.deepEqual(plans.load(at, report), [plan])
  })
})
