// ID3: one zone read over HTTP, as a session whose proofs are read with it, and as a token limited to 100 zones. The anchor is the same read without: a session from
// before proofs, which has none, and a token without a limit. The design compares with the commit before proofs, which one run cannot.
import { nameKey, parseName } from '../../server/src/net/dns/name.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { startDnsProduct, type DnsProduct } from './dns-product.ts'
import { describeLoadResults, runLoad, type LoadResult } from './load.ts'
import { signIn } from './people.ts'
import { perSecond, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const readWithProofs: Benchmark = {
  id: 'ID3',
  name: 'read-with-proofs',
  title: 'authenticated read with proofs, and with a limit of 100 zones',
  missing: () => undefined,
  run,
}

const goal = 0.97
const zones = Array.from({ length: 100 }, (_, n) => `zone${n}.test`)

async function run(bench: Bench): Promise<Line[]> {
  const { clients, rounds, sliceSeconds, report } = bench
  await using ours = await startDnsProduct(bench, { roles: ['api'], seed: seedZones })
  const { product, client } = ours
  const [withProofs, without] = [await openSession(ours), await openSession(ours)]
  await client.query('delete from session_proofs where session_id = $1', [without.sessionId])
  const read = (authorization: string, seconds = sliceSeconds): Promise<LoadResult> =>
    runLoad({
      product,
      connections: clients,
      seconds,
      source: {
        kind: 'list',
        requests: [{ method: 'GET', path: `/v3/dns/zones/${zones[7]}`, authorization }],
        bytesMin: 100,
      },
    })
  const bearer = ({ access }: { readonly access: string }) => `Bearer ${access}`
  const tokenOf = async (resources?: object): Promise<string> => {
    const response = await fetch(`${product.url}/v3/tokens`, {
      method: 'POST',
      headers: { authorization: bearer(withProofs), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bench', scopes: ['dns:read'], ...(resources && { resources }) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return `Token ${(JSON.parse(text) as { token: string }).token}`
  }
  const limited = await tokenOf({ zones: zones.map((zone) => ({ zone })) })
  const unlimited = await tokenOf()
  const lines: Line[] = []
  for (const [what, own, anchor] of [
    ['session with a proof', bearer(withProofs), bearer(without)],
    ['token limited to 100 zones', limited, unlimited],
  ] as const) {
    await read(own, 1)
    await read(anchor, 1)
    const turns = await takeTurns(
      rounds,
      () => read(own),
      () => read(anchor),
    )
    // Processor time: the rate depends on other load of the machine.
    const micros = (results: readonly LoadResult[]) => medianOf(results, ({ productMicros }) => productMicros)
    const rate = (results: readonly LoadResult[]) => perSecond(medianOf(results, (one) => one.perSecond))
    const ratio = micros(turns.peer) / micros(turns.ours)
    report(`${what}: ${describeLoadResults(turns.ours)}`)
    lines.push({
      what: `GET of a zone, ${clients} clients, ${what}`,
      result: `${whole(micros(turns.ours))} us of processor time, ${rate(turns.ours)}`,
      peer: `${whole(micros(turns.peer))} us, ${rate(turns.peer)} without`,
      ratio: times(ratio),
      goal: `>= ${goal}x`,
      reached: ratio >= goal,
    })
  }
  return lines
}

async function seedZones(client: DnsProduct['client']): Promise<void> {
  for (const zone of zones) {
    const name = parseName(zone)
    await client.query('insert into dns_zones (team_id, name, name_key) values (1, $1, $2)', [
      name,
      Buffer.from(nameKey(name)),
    ])
  }
}

async function openSession({ product }: DnsProduct): Promise<{ access: string; sessionId: string }> {
  const { access } = (await signIn(product.url, 1))[0]!
  const claims = JSON.parse(Buffer.from(access.split('.')[1]!, 'base64url').toString()) as { sid: string }
  return { access, sessionId: claims.sid }
}
