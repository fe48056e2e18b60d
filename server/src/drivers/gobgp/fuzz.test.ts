// Mutated octets of a list, for the decoders of both versions: each path becomes a canonical route, a foreign path, or an
// Error, within the time limit.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf'
import { sameRoute } from '../../byoip/regions/speaker.ts'
import type { Family } from '../../net/bits.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { decodeOwnRoute, encodeRoute, parseOwner, type GobgpPath } from './codec.ts'
import * as v3 from './generated/gobgp_pb.js'
import * as v4 from './generated/gobgp4_pb.js'
import { cpuMs } from '../../net/testing-time.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(100_000)
const hangMs = 50
const owner = parseOwner('64500:1:1')

const paths = [
  { prefix: parsePrefix('198.51.100.0/24'), nextHop: '192.0.2.1' },
  { prefix: parsePrefix('2001:db8:a::/48'), nextHop: '2001:db8::1' },
].map((one) =>
  encodeRoute(
    {
      ...one,
      asPath: [4_200_000_001, 64496],
      communities: ['64500:100', '65535:666'],
      largeCommunities: ['64500:2:3'],
    },
    owner,
  ),
)

fuzz('3.x', v3.ListPathResponseSchema, '<nil>')
fuzz('4.x', v4.ListPathResponseSchema, '')

function fuzz(version: string, schema: DescMessage, neighborIp: string): void {
  describe(`an answer of GoBGP ${version}`, () => {
    const answer = (path: GobgpPath): Uint8Array =>
      toBinary(schema, create(schema, { destination: { paths: [{ ...path, neighborIp }] } } as never))
    const read = (octets: Uint8Array): GobgpPath[] =>
      (fromBinary(schema, octets, { readUnknownFields: false }) as v4.ListPathResponse).destination?.paths ??
      []

    it(`is decoded as routes, as foreign paths or as an Error, ${runs} times with octets changed`, () => {
      const valid = paths.map(answer)
      const random = generator(version === '3.x' ? 3 : 4)
      const outcomes = { route: 0, other: 0, error: 0 }
      for (let run = 0; run < runs; run++) {
        const octets = mutate(valid[run % valid.length]!, random)
        const family = run % 2 === 0 ? 4 : 6
        const tookMs = timeOf(() => outcomes[outcomeOf(octets, family)]++)
        if (tookMs > hangMs) assertQuick(octets, family)
      }
      for (const [outcome, count] of Object.entries(outcomes))
        assert.ok(count > runs / 1_000, `${outcome}: only ${count} of ${runs}`)
    })

    it(`is decoded within ${hangMs} ms if an attribute has the maximum length`, () => {
      const octets = answer({ ...paths[0]!, pattrsBinary: [longestAsPath(1), longestAsPath(0)] })
      assertQuick(octets, 4)
    })

    /** On a busy machine a process is sometimes suspended for longer; an input that hangs does so every time. */
    function assertQuick(octets: Uint8Array, family: Family): void {
      const fastestMs = Math.min(...Array.from({ length: 5 }, () => timeOf(() => outcomeOf(octets, family))))
      assert.ok(fastestMs <= hangMs, `${fastestMs} ms for ${Buffer.from(octets).toString('hex')}`)
    }

    function outcomeOf(octets: Uint8Array, family: Family): 'route' | 'other' | 'error' {
      try {
        const routes = read(octets).map((path) => decodeOwnRoute(path, family, owner))
        const ours = routes.find((route) => route !== undefined)
        if (!ours) return 'other'
        assertRoute(ours, family)
        return 'route'
      } catch (error) {
        assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error))
        return 'error'
      }
    }

    /** A decoded route can be announced again without a change. */
    function assertRoute(route: NonNullable<ReturnType<typeof decodeOwnRoute>>, family: Family): void {
      assert.equal(parsePrefix(route.prefix), route.prefix)
      let again: GobgpPath
      try {
        again = encodeRoute(route, owner)
      } catch (error) {
        // A mandatory attribute can be missing in a decoded route, which then cannot be sent.
        assert.ok(error instanceof Error)
        return
      }
      const decoded = decodeOwnRoute(read(answer(again))[0]!, family, owner)
      assert.ok(decoded && sameRoute(decoded, route), JSON.stringify({ route, decoded }))
    }
  })
}

/** AS_PATH of 65,5xx octets in segments with this number of ASNs. */
function longestAsPath(asns: number): Uint8Array {
  const segment = [2, asns, ...Array.from({ length: asns * 4 }, () => 1)]
  const count = Math.floor(65_535 / segment.length)
  const length = count * segment.length
  const value = Array.from({ length: count }, () => segment).flat()
  return Uint8Array.from([0x50, 2, length >> 8, length & 255, ...value])
}

function timeOf(work: () => unknown): number {
  const startedMs = cpuMs()
  work()
  return cpuMs() - startedMs
}

/** Changes, removes, inserts or repeats one to four octets. */
function mutate(octets: Uint8Array, random: () => number): Uint8Array {
  const changed = [...octets]
  for (let change = 1 + Math.floor(random() * 4); change > 0; change--) {
    const at = Math.floor(random() * changed.length)
    const kind = random()
    if (kind < 0.55) changed[at] = Math.floor(random() * 256)
    else if (kind < 0.7) changed.splice(at, 1 + Math.floor(random() * 8))
    else if (kind < 0.85) changed.splice(at, 0, Math.floor(random() * 256))
    else changed.splice(at, 0, ...changed.slice(at, at + 1 + Math.floor(random() * 40)))
  }
  return Uint8Array.from(changed)
}

/** Mulberry32: the same inputs in every run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
