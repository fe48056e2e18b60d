// PowerDNS with its HTTP API and SQLite, as the primary that others use: the peer of the benchmarks of DNS. Its zones are kept durably, as by
// default.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort, randomSubnet } from '../../lab/src/address.ts'
import { killProgram, startProgram } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { transferKey, type Called } from './dns-product.ts'
import type { Server } from './dns-probe.ts'
import { cpuMicrosOf } from './processor-time.ts'

export type Powerdns = Server &
  AsyncDisposable & {
    readonly folder: string
    /** Sends a request below `/api/v1/servers/localhost`; throws if it is not successful. */
    call(method: string, path: string, body?: unknown): Promise<Called>
    kill(): Promise<void>
    start(): Promise<void>
    cpuMicros(): number
  }

const schemaFile = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'
const repeatsMax = 20
const apiKey = 'the-key-of-the-bench'

/** `notified` are the servers that get its NOTIFY; `place` is its listen address, by default a separate address. */
export async function startPowerdns(
  notified: readonly Server[] = [],
  settings: readonly string[] = [],
  place?: Server,
): Promise<Powerdns> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bench-pdns-'))
  const { address, port } = place ?? (await freePlace())
  const apiPort = await freePort(address, 8081)
  const file = join(folder, 'pdns.sqlite3')
  const database = new DatabaseSync(file)
  database.exec(readFileSync(schemaFile, 'utf8'))
  database
    .prepare('insert into tsigkeys (name, algorithm, secret) values (?, ?, ?)')
    .run(keyName, transferKey.algorithm, Buffer.from(transferKey.secret).toString('base64'))
  database.close()
  await writeFile(
    join(folder, 'pdns.conf'),
    `launch=gsqlite3
gsqlite3-database=${file}
gsqlite3-dnssec=yes
local-address=${address}
local-port=${port}
primary=yes
daemon=no
guardian=no
socket-dir=${folder}
setuid=
setgid=
webserver=yes
webserver-address=${address}
webserver-port=${apiPort}
webserver-allow-from=127.0.0.0/8
webserver-max-bodysize=100
webserver-loglevel=none
api=yes
api-key=${apiKey}
allow-axfr-ips=127.0.0.0/8
only-notify=
also-notify=${notified.map((server) => `${server.address}:${server.port}`).join()}
security-poll-suffix=
${settings.join('\n')}
`,
  )
  const start = (): ReturnType<typeof startProgram> =>
    startProgram('pdns_server', [`--config-dir=${folder}`], join(folder, 'out.log'))
  let child = start()
  const call: Powerdns['call'] = async (method, path, body) => {
    const started = performance.now()
    const target = { host: address, port: apiPort, method, path: `/api/v1/servers/localhost${path}` }
    let answer = await send(target, body)
    // SQLite is locked while another of its threads writes: clients repeat.
    for (let again = 0; answer.status === 500 && again < repeatsMax; again++)
      answer = await send(target, body)
    const ms = performance.now() - started
    if (answer.status >= 300)
      throw new Error(`PowerDNS: ${method} ${path}: ${answer.status} ${answer.body.slice(0, 500)}`)
    return { ms, ...answer }
  }
  const untilReady = () =>
    waitFor('PowerDNS serves', () =>
      call('GET', '').then(
        () => true,
        () => false,
      ),
    )
  await untilReady()
  return {
    address,
    port,
    folder,
    call,
    kill: () => killProgram(child, 'SIGKILL'),
    async start() {
      child = start()
      await untilReady()
    },
    cpuMicros: () => cpuMicrosOf(child),
    async [Symbol.asyncDispose]() {
      await killProgram(child, 'SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** An address and port for a server that other servers are configured with before it starts. */
export async function freePlace(): Promise<Server> {
  const address = `${randomSubnet()}.53`
  return { address, port: await freePort(address, 5300) }
}

const keyName = transferKey.name.slice(0, -1)

/** It closes the connection after each answer. */
function send(
  target: { readonly host: string; readonly port: number; readonly method: string; readonly path: string },
  body: unknown,
): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const octets = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers = {
    'X-API-Key': apiKey,
    ...(octets ? { 'Content-Type': 'application/json', 'Content-Length': octets.length } : {}),
  }
  const sent = request({ ...target, headers, agent: false }, (answer) => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('error', reject)
    answer.on('end', () =>
      resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
    )
  })
  sent.on('error', reject)
  sent.end(octets)
  return promise
}

export type PowerdnsSet = {
  readonly name: string
  readonly type: string
  readonly records: readonly string[]
}

/** PowerDNS' form of record sets that replace the sets of the same name and type. */
export const setsOf = (sets: readonly PowerdnsSet[]): object[] =>
  sets.map(({ name, type, records }) => ({
    name,
    type,
    ttl: 300,
    changetype: 'REPLACE',
    records: records.map((content) => ({ content, disabled: false })),
  }))

/** Creates a zone with these record sets, transferred with the key of the bench. */
export function createPowerdnsZone(
  powerdns: Powerdns,
  name: string,
  sets: readonly PowerdnsSet[],
  { dnssec = false }: { readonly dnssec?: boolean } = {},
): Promise<Called> {
  const soa = `ns1.bench.test. hostmaster.bench.test. 1 3600 900 1209600 300`
  const apex = [
    { name, type: 'SOA', records: [soa] },
    { name, type: 'NS', records: ['ns1.bench.test.'] },
  ]
  return powerdns.call('POST', '/zones', {
    name,
    kind: 'Master',
    dnssec,
    soa_edit_api: 'INCREASE',
    api_rectify: dnssec,
    master_tsig_key_ids: [transferKey.name],
    rrsets: setsOf([...apex, ...sets]),
  })
}
