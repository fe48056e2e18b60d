// Real name servers that follow a primary: NSD, BIND, Knot and PowerDNS, one process each.
import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { freePort, randomSubnet } from './address.ts'
import { killProgram, programPath, startProgram, type ProgramName } from './program.ts'

const run = promisify(execFile)

/** The name with the final dot. */
export type FollowerKey = { readonly name: string; readonly algorithm: string; readonly secret: Uint8Array }

export type FollowerOptions = {
  readonly primary: { readonly address: string; readonly port: number }
  readonly key: FollowerKey
  /** Zones that it is configured for, with the final dot. */
  readonly zones: readonly string[]
  /** The catalog zone that it follows besides. */
  readonly catalog?: string
  /** It signs its zones with its own keys; BIND only. */
  readonly signs?: boolean
  /** Its folder, which is kept; a temporary one by default. */
  readonly folder?: string
  /** The port of 127.0.0.1; by default a free port of a separate address. */
  readonly port?: number
}

export type Follower = {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly folder: string
  start(): Promise<void>
  /** By SIGTERM unless another signal is given. */
  stop(signal?: NodeJS.Signals): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

type Program = {
  readonly program: ProgramName
  readonly configure: (options: FollowerOptions & Place) => Promise<readonly string[]>
}
type Place = { readonly folder: string; readonly address: string; readonly port: number }

const secretOf = ({ key }: FollowerOptions): string => Buffer.from(key.secret).toString('base64')
const keyName = ({ key }: FollowerOptions): string => key.name.slice(0, -1)

const nsd: Program = {
  program: 'nsd',
  async configure(options) {
    const { folder, address, port, primary, zones } = options
    const file = join(folder, 'nsd.conf')
    const peer = `${primary.address}@${primary.port} ${keyName(options)}`
    await writeFile(
      file,
      `server:
  ip-address: ${address}@${port}
  username: ""
  chroot: ""
  zonesdir: "${folder}"
  database: "${folder}/nsd.db"
  pidfile: "${folder}/nsd.pid"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  xfrdir: "${folder}"
  xfrd-reload-timeout: 0
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
key:
  name: "${keyName(options)}"
  algorithm: ${options.key.algorithm}
  secret: "${secretOf(options)}"
${zones
  .map(
    (zone) => `zone:
  name: "${zone}"
  request-xfr: ${peer}
  allow-notify: 0.0.0.0/0 ${keyName(options)}
  provide-xfr: 127.0.0.0/8 ${keyName(options)}
  min-retry-time: 1
  max-retry-time: 2
`,
  )
  .join('')}`,
    )
    return ['-d', '-c', file]
  },
}

const bind: Program = {
  program: 'named',
  async configure(options) {
    const { folder, address, port, primary, zones, catalog, signs } = options
    const signing = signs ? ' dnssec-policy default; inline-signing yes;' : ''
    const key = keyName(options)
    const primaries = `{ ${primary.address} port ${primary.port} key "${key}"; }`
    const file = join(folder, 'named.conf')
    const members = catalog
      ? `catalog-zones { zone "${catalog}" default-primaries ${primaries} in-memory no zone-directory "${folder}" min-update-interval 1; };`
      : ''
    const all = catalog ? [catalog, ...zones] : zones
    await writeFile(
      file,
      `options {
  directory "${folder}";
  listen-on port ${port} { ${address}; };
  listen-on-v6 { none; };
  pid-file "${folder}/named.pid";
  session-keyfile "${folder}/session.key";
  recursion no;
  notify no;
  dnssec-validation no;
  allow-transfer { key "${key}"; };
  allow-notify { key "${key}"; };
  min-retry-time 1; max-retry-time 2;
  serial-query-rate 1000; transfers-in 100; transfers-per-ns 100;
  ${members}
};
controls { };
key "${key}" { algorithm ${options.key.algorithm}; secret "${secretOf(options)}"; };
${all.map((zone, at) => `zone "${zone}" { type secondary; primaries ${primaries}; file "zone${at}.db";${signing} };`).join('\n')}
`,
    )
    return ['-g', '-n', '1', '-c', file]
  },
}

const knot: Program = {
  program: 'knotd',
  async configure(options) {
    const { folder, address, port, primary, zones, catalog } = options
    const key = keyName(options)
    const file = join(folder, 'knot.conf')
    // Without its directory Knot loads no catalog zone, silently.
    await mkdir(join(folder, 'db'), { recursive: true })
    await writeFile(
      file,
      `server:
  rundir: "${folder}"
  listen: ${address}@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 2
  tcp-io-timeout: 5000
database:
  storage: "${folder}/db"
log:
- target: stderr
  any: info
key:
- id: "${key}"
  algorithm: ${options.key.algorithm}
  secret: "${secretOf(options)}"
remote:
- id: primary
  address: ${primary.address}@${primary.port}
  key: "${key}"
acl:
- id: own
  key: "${key}"
  action: [notify, transfer]
template:
- id: default
  storage: "${folder}/db"
  master: primary
  acl: own
  retry-min-interval: 1
  retry-max-interval: 2
zone:
${zones.map((zone) => `- domain: "${zone}"\n`).join('')}${
        catalog ? `- domain: "${catalog}"\n  catalog-role: interpret\n  catalog-template: default\n` : ''
      }`,
    )
    return ['-c', file]
  },
}

const schemaFile = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

const powerdns: Program = {
  program: 'pdns_server',
  async configure(options) {
    const { folder, address, port, primary, zones } = options
    const file = join(folder, 'pdns.conf')
    await writeFile(
      file,
      `launch=gsqlite3
gsqlite3-database=${folder}/pdns.sqlite3
gsqlite3-dnssec=yes
gsqlite3-pragma-synchronous=0
local-address=${address}
local-port=${port}
secondary=yes
daemon=no
guardian=no
socket-dir=${folder}
setuid=
setgid=
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
xfr-cycle-interval=1
version-string=anonymous
security-poll-suffix=
`,
    )
    const database = new DatabaseSync(join(folder, 'pdns.sqlite3'))
    const isNew =
      database.prepare("select count(*) as n from sqlite_master where name = 'domains'").get()?.['n'] === 0
    if (isNew) database.exec(readFileSync(schemaFile, 'utf8'))
    database.close()
    const pdnsutil = (...args: string[]) => run(programPath('pdnsutil'), [`--config-dir=${folder}`, ...args])
    if (isNew) {
      await pdnsutil('import-tsig-key', keyName(options), options.key.algorithm, secretOf(options))
      for (const zone of zones) {
        await pdnsutil('create-slave-zone', zone, `${primary.address}:${primary.port}`)
        await pdnsutil('activate-tsig-key', zone, keyName(options), 'slave')
        await pdnsutil('activate-tsig-key', zone, keyName(options), 'master')
      }
    }
    return [`--config-dir=${folder}`]
  },
}

const programs = { NSD: nsd, BIND: bind, Knot: knot, PowerDNS: powerdns } as const
export type FollowerName = keyof typeof programs

/** Starts a follower; resolves before its first transfer. After a restart it keeps its transferred zones. */
export async function startFollower(name: FollowerName, options: FollowerOptions): Promise<Follower> {
  const { program, configure } = programs[name]
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), `pharos-${name.toLowerCase()}-`)))
  await mkdir(folder, { recursive: true })
  // BIND listens only on addresses that an interface has.
  const isOnLoopback = name === 'BIND' || options.port !== undefined
  const address = isOnLoopback ? '127.0.0.1' : `${randomSubnet()}.53`
  const port = options.port ?? (await freePort(address, isOnLoopback ? undefined : 5300))
  let child: ChildProcess | undefined
  const follower: Follower = {
    name,
    address,
    port,
    folder,
    async start() {
      const args = await configure({ ...options, folder, address, port })
      child = startProgram(program, args, join(folder, 'out.log'))
    },
    async stop(signal = 'SIGTERM') {
      if (child) await killProgram(child, signal)
    },
    async [Symbol.asyncDispose]() {
      await follower.stop()
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
  await follower.start()
  return follower
}
