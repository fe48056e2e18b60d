// The conformance suite of the port IrrSource, run on the dump of a registry and on a whois server. It uses the port only; the
// fixture sets the objects of the registry, as RPSL text.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Asn } from '../net/asn.ts'
import { parsePrefix } from '../net/prefix.ts'
import { DriverError } from '../runtime/driver-error.ts'
import type { IrrSource, RouteObject } from './irr-source.ts'
import { until } from '../../../lab/src/wait.ts'

export type IrrSourceFixture = {
  /** Configured to search the registries FIRST, SECOND and RIPE, in this order. */
  readonly source: IrrSource
  /** Creates another source of the same registry, which the test closes. */
  connect(): IrrSource
  /** A source that does not exist, and its configured timeout. */
  readonly absent: { readonly source: IrrSource; readonly timeoutMs: number }
  /** Replaces the objects of the registry; the source detects the change shortly after. */
  setObjects(objects: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/** Runs the suite; `make` starts one registry for all of it. */
export function irrSourceConformance(name: string, make: () => Promise<IrrSourceFixture>): void {
  describe(`the IRR source ${name}`, () => {
    let fixture: IrrSourceFixture
    before(async () => {
      fixture = await make()
      await set([...registry])
    })
    after(() => fixture?.stop())

    /** Sets the objects and one more, and waits until the source has it. */
    let changes = 0
    const set = async (objects: readonly string[]): Promise<void> => {
      const asn = (64_600 + (++changes % 100)) as Asn
      await fixture.setObjects([...objects, `aut-num: AS${asn}\nremarks: change ${changes}\nsource: FIRST`])
      await until(
        async () => (await fixture.source.autNum(asn, never))?.text.includes(`change ${changes}\n`) === true,
      )
    }
    const routes = async (prefix: string): Promise<string[]> =>
      (await fixture.source.routeObjects(parsePrefix(prefix), never)).map(textOf).sort()

    it('has a name, and a label for customers without its address', () => {
      assert.ok(fixture.source.name.length > 0)
      assert.match(fixture.source.label, /^IRR [^/:]+$/)
    })

    it('finds the objects of exactly a prefix and of all less specific ones, with origin and source', async () => {
      assert.deepEqual(
        await routes('192.0.2.0/25'),
        [
          '192.0.0.0/16 AS64498 FIRST',
          '192.0.2.0/24 AS64497 SECOND',
          '192.0.2.0/24 AS64496 FIRST',
          '192.0.2.0/25 AS64496 FIRST',
        ].sort(),
      )
      assert.deepEqual(await routes('192.0.2.0/24'), [
        '192.0.0.0/16 AS64498 FIRST',
        '192.0.2.0/24 AS64496 FIRST',
        '192.0.2.0/24 AS64497 SECOND',
      ])
    })

    it('finds IPv6 objects in any spelling of the registry', async () => {
      assert.deepEqual(await routes('2001:db8:a::/48'), [
        '2001:db8::/32 AS64496 FIRST',
        '2001:db8:a::/48 AS4200000001 SECOND',
      ])
    })

    it('finds a default route for every prefix of its family, and for none of the other', async () => {
      assert.deepEqual(await routes('::/0'), [])
      await set([...registry, 'route: 0.0.0.0/0\norigin: AS64511\nsource: FIRST'])
      assert.deepEqual(await routes('198.18.0.0/15'), ['0.0.0.0/0 AS64511 FIRST'])
      assert.deepEqual(await routes('2001:db9::/32'), [])
      await set(registry)
    })

    it('returns no objects if none exist', async () => {
      assert.deepEqual(await routes('203.0.113.0/24'), [])
      assert.deepEqual(await routes('128.0.0.0/1'), [])
    })

    it('leaves out invalid objects, and those of other registries', async () => {
      assert.deepEqual(await routes('198.51.100.0/24'), ['198.51.100.0/24 AS64499 SECOND'])
    })

    it('returns the whole text of an aut-num object, of the first registry that has it', async () => {
      const { source, text } = (await fixture.source.autNum(64_496 as Asn, never))!
      assert.equal(source, 'FIRST')
      assert.match(text, /^aut-num: +AS64496\n/)
      assert.match(text, /remarks: +pharos-token=abc é # kept/)
      assert.match(text, /source: +FIRST/)
      assert.equal(text.includes('SECOND'), false)
      assert.equal(await fixture.source.autNum(64_510 as Asn, never), undefined)
      assert.equal(await fixture.source.autNum(64_499 as Asn, never), undefined, 'of another registry')
    })

    it('returns the aut-num object of a regional registry, where anyone may have registered another one before', async () => {
      assert.match((await fixture.source.autNum(64_505 as Asn, never))!.text, /as-name: HOLDER/)
    })

    it('returns the direct members of an as-set, of the first registry that has it', async () => {
      assert.deepEqual(await members('AS-CUSTOMERS'), {
        asns: [64_496, 64_497],
        sets: ['AS-MORE', 'AS64496:AS-OWN'],
      })
      assert.deepEqual(await members('AS64496:AS-OWN'), { asns: [4_200_000_001], sets: [] })
    })

    it('returns members by reference if the set names their maintainer, in the same registry', async () => {
      assert.deepEqual(await members('AS-REF'), { asns: [64_500, 64_501], sets: ['AS-REF-MEMBER'] })
      assert.deepEqual(await members('AS-ANYONE'), { asns: [64_502], sets: [] })
    })

    it('returns the same for a set without members and for a missing set', async () => {
      assert.equal(await members('AS-EMPTY'), undefined)
      assert.equal(await members('AS-NOWHERE'), undefined)
    })

    it('returns a serial that changes with the objects, and only then', async () => {
      const before = await fixture.source.serial(never)
      assert.ok(before)
      await sleep(30)
      assert.equal(await fixture.source.serial(never), before)
      await fixture.setObjects(registry.slice(1))
      await until(async () => (await fixture.source.serial(never)) !== before)
      await until(async () => (await routes('192.0.2.0/25')).length === 3)
      await set(registry)
    })

    it('detects the creation and the deletion of an object', async () => {
      await set([...registry, 'route: 203.0.113.0/24\norigin: AS64496\nsource: FIRST'])
      assert.deepEqual(await routes('203.0.113.0/24'), ['203.0.113.0/24 AS64496 FIRST'])
      await set(registry)
      assert.deepEqual(await routes('203.0.113.0/24'), [])
    })

    it('answers many concurrent queries, each with its own answer', async () => {
      const origins = Array.from({ length: 200 }, (_, at) => at)
      await set(origins.map((at) => `route: 10.0.${at}.0/24\norigin: AS${64_000 + at}\nsource: FIRST`))
      const answers = await Promise.all(origins.map((at) => routes(`10.0.${at}.0/24`)))
      assert.deepEqual(
        answers,
        origins.map((at) => [`10.0.${at}.0/24 AS${64_000 + at} FIRST`]),
      )
      await set(registry)
    })

    it('answers with a thousand objects', async () => {
      const many = Array.from(
        { length: 1_000 },
        (_, at) => `route: 10.0.0.0/8\norigin: AS${at + 1}\nsource: FIRST`,
      )
      await set(many)
      assert.equal((await routes('10.0.0.0/8')).length, 1_000)
      await set(registry)
    })

    it('rejects with the reason of a signal that is aborted', async () => {
      const reason = new Error('enough')
      await assert.rejects(
        fixture.source.routeObjects(parsePrefix('192.0.2.0/24'), AbortSignal.abort(reason)),
        reason,
      )
      assert.equal((await routes('192.0.2.0/24')).length, 3)
    })

    it('rejects everything once it is closed', async () => {
      const other = fixture.connect()
      await other.serial(never)
      await other.close()
      for (const call of callsOf(other)) {
        await assert.rejects(call, (error) => error instanceof DriverError && error.kind === 'unreachable')
      }
      assert.equal((await routes('192.0.2.0/24')).length, 3)
    })

    it('rejects as unreachable within its timeout if it does not exist', async () => {
      const { source, timeoutMs } = fixture.absent
      for (const call of callsOf(source)) {
        const startedMs = performance.now()
        await assert.rejects(call, (error) => error instanceof DriverError && error.kind === 'unreachable')
        assert.ok(performance.now() - startedMs < timeoutMs + 1_000)
      }
    })

    async function members(name: string) {
      const found = await fixture.source.asSetMembers(name, never)
      return found && { asns: found.asns.toSorted((a, b) => a - b), sets: found.sets.toSorted() }
    }
  })
}

const never = new AbortController().signal

function callsOf(source: IrrSource): (() => Promise<unknown>)[] {
  return [
    () => source.routeObjects(parsePrefix('192.0.2.0/24'), never),
    () => source.autNum(64_496 as Asn, never),
    () => source.asSetMembers('AS-CUSTOMERS', never),
    () => source.serial(never),
  ]
}

function textOf({ prefix, origin, source }: RouteObject): string {
  return `${prefix} AS${origin} ${source}`
}

const registry: readonly string[] = [
  'route: 192.0.2.0/25\norigin: AS64496\nsource: FIRST',
  'route:   192.0.2.0/24 # the whole of it\ndescr:   a\n         b\n+\norigin:  AS64496\nsource:  FIRST # Filtered',
  'route: 192.0.2.0/24\norigin: AS64497\nsource: SECOND',
  'route: 192.0.0.0/16\norigin: as64498\nsource: first',
  'route: 192.0.2.128/25\norigin: AS64496\nsource: FIRST',
  'route: 192.0.3.0/24\norigin: AS64496\nsource: FIRST',
  'route6: 2001:0DB8::/32\norigin: AS64496\nsource: FIRST',
  'route6: 2001:db8:a:0::/48\norigin: AS4200000001\nsource: SECOND',
  'route6: 2001:db8:a:1::/64\norigin: AS64496\nsource: FIRST',
  'route: 198.51.100.0/24\norigin: AS64496\nsource: OTHER',
  'route: 198.51.100.0/24\norigin: AS64499\nsource: SECOND',
  'route: 198.51.100.1/24\norigin: AS64496\nsource: FIRST',
  'route: 198.51.100.0/24\norigin: AS0\nsource: FIRST',
  'route: 198.51.100.0/24\nsource: FIRST',
  'route6: 198.51.100.0/24\norigin: AS64496\nsource: FIRST',
  'aut-num: AS64496\nas-name: TWO\nsource: SECOND',
  'aut-num:  AS64496\nas-name:  ONE\nremarks:  pharos-token=abc é # kept\nmnt-by:   MAINT-X\nsource:   FIRST',
  'aut-num: AS64499\nas-name: OTHER\nsource: OTHER',
  'aut-num: AS64505\nas-name: ANYONE\nsource: FIRST',
  'aut-num: AS64505\nas-name: HOLDER\nsource: RIPE',
  'as-set: AS-CUSTOMERS\nmembers: AS1\nsource: SECOND',
  'as-set: as-customers\nmembers: as64496, AS64497,\n         AS-MORE # and more\nmembers: AS64496:as-own, AS64496\nsource: FIRST',
  'as-set: AS64496:AS-OWN\nmembers: AS4200000001\nsource: SECOND',
  'as-set: AS-EMPTY\nsource: FIRST',
  'as-set: AS-REF\nmembers: AS64500\nmbrs-by-ref: MAINT-A, MAINT-B\nsource: FIRST',
  'as-set: AS-ANYONE\nmbrs-by-ref: ANY\nsource: FIRST',
  'aut-num: AS64501\nmember-of: as-ref\nmnt-by: maint-b\nsource: FIRST',
  'aut-num: AS64502\nmember-of: AS-REF, AS-ANYONE, AS-EMPTY\nmnt-by: MAINT-C\nsource: FIRST',
  'aut-num: AS64503\nmember-of: AS-REF\nmnt-by: MAINT-A\nsource: SECOND',
  'as-set: AS-REF-MEMBER\nmember-of: AS-REF\nmnt-by: MAINT-A\nmembers: AS64504\nsource: FIRST',
]
