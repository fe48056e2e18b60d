// For tests: real name servers as primaries of a zone that Pharos follows, with TSIG and NOTIFY; one process each in a temporary folder.
import type { ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, randomSubnet } from '@pharos/lab/address'
import { killProgram, startProgram, type ProgramName } from '@pharos/lab/program'
import type { TsigKey } from '../../net/dns/tsig.ts'

export type PrimaryOptions = {
  /** Without the final dot. */
  readonly zone: string
  /** Lines of the zone file beside SOA and NS. */
  readonly records: readonly string[]
  readonly key: TsigKey
  /** Target of NOTIFY. */
  readonly follower: { readonly address: string; readonly port: number }
}

type Place = PrimaryOptions & { readonly folder: string; readonly address: string; readonly port: number }

export type PeerPrimary = {
  readonly address: string
  readonly port: number
  start(): Promise<void>
  stop(): Promise<void>
  /** Replaces the records; the serial is raised, and NOTIFY sent. It must be answering: before, SIGHUP would end it. */
  setRecords(lines: readonly string[]): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const secretOf = ({ key }: PrimaryOptions): string => Buffer.from(key.secret).toString('base64')
const keyName = ({ key }: PrimaryOptions): string => key.name.slice(0, -1)
const zoneFile = 'primary.zone'

type Program = { readonly program: ProgramName; readonly args: readonly string[]; readonly text: string }

const programs = {
  BIND: (place: Place): Program => ({
    program: 'named',
    args: ['-g', '-n', '1', '-c', join(place.folder, 'conf')],
    text: `options {
  directory "${place.folder}";
  listen-on port ${place.port} { ${place.address}; };
  listen-on-v6 { none; };
  pid-file "${place.folder}/named.pid";
  session-keyfile "${place.folder}/session.key";
  recursion no;
  dnssec-validation no;
  notify explicit;
  notify-delay 0;
  ixfr-from-differences yes;
};
controls { };
key "${keyName(place)}" { algorithm ${place.key.algorithm}; secret "${secretOf(place)}"; };
zone "${place.zone}" {
  type primary; file "${zoneFile}"; allow-transfer { key "${keyName(place)}"; };
  also-notify { ${place.follower.address} port ${place.follower.port} key "${keyName(place)}"; };
};
`,
  }),
  NSD: (place: Place): Program => ({
    program: 'nsd',
    args: ['-d', '-c', join(place.folder, 'conf')],
    text: `server:
  ip-address: ${place.address}@${place.port}
  username: ""
  chroot: ""
  zonesdir: "${place.folder}"
  database: ""
  pidfile: "${place.folder}/nsd.pid"
  xfrdfile: "${place.folder}/xfrd.state"
  zonelistfile: "${place.folder}/zone.list"
  xfrdir: "${place.folder}"
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
key:
  name: "${keyName(place)}"
  algorithm: ${place.key.algorithm}
  secret: "${secretOf(place)}"
zone:
  name: "${place.zone}"
  zonefile: "${zoneFile}"
  store-ixfr: yes
  create-ixfr: yes
  provide-xfr: 127.0.0.0/8 ${keyName(place)}
  notify: ${place.follower.address}@${place.follower.port} ${keyName(place)}
`,
  }),
  Knot: (place: Place): Program => ({
    program: 'knotd',
    args: ['-c', join(place.folder, 'conf')],
    text: `server:
  rundir: "${place.folder}"
  listen: ${place.address}@${place.port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: "${place.folder}/db"
key:
- id: "${keyName(place)}"
  algorithm: ${place.key.algorithm}
  secret: "${secretOf(place)}"
remote:
- id: follower
  address: ${place.follower.address}@${place.follower.port}
  key: "${keyName(place)}"
acl:
- id: transfer
  key: "${keyName(place)}"
  action: transfer
policy:
- id: single
  single-type-signing: on
zone:
- domain: "${place.zone}"
  storage: "${place.folder}"
  file: ${zoneFile}
  notify: follower
  acl: transfer
  dnssec-signing: on
  dnssec-policy: single
  zonefile-sync: -1
  zonefile-load: difference
  journal-content: all
  serial-policy: increment
`,
  }),
} as const satisfies Record<string, (place: Place) => Program>

export const primaryPrograms = { BIND: 'named', NSD: 'nsd', Knot: 'knotd' } as const
export type PrimaryName = keyof typeof programs

/** Starts a primary; resolves before it answers. Knot signs the zone. */
export async function startPrimary(name: PrimaryName, options: PrimaryOptions): Promise<PeerPrimary> {
  const folder = await mkdtemp(join(tmpdir(), `pharos-primary-${name.toLowerCase()}-`))
  // Without its directory Knot starts no journal.
  await mkdir(join(folder, 'db'))
  // BIND listens only on addresses that an interface has.
  const address = name === 'BIND' ? '127.0.0.1' : `${randomSubnet()}.53`
  const port = await freePort(address, name === 'BIND' ? undefined : 5300)
  const { program, args, text } = programs[name]({ ...options, folder, address, port })
  await writeFile(join(folder, 'conf'), text)
  let child: ChildProcess | undefined
  let serial = 0
  const write = (lines: readonly string[]): Promise<void> => {
    serial++
    const soa = `@ 300 SOA ns hostmaster ${serial} 3600 900 1209600 60`
    const records = [soa, '@ 300 NS ns', 'ns 300 A 192.0.2.53', ...lines]
    return writeFile(join(folder, zoneFile), `$ORIGIN ${options.zone}.\n${records.join('\n')}\n`)
  }
  await write(options.records)
  const primary: PeerPrimary = {
    address,
    port,
    start() {
      child = startProgram(program, args, join(folder, 'out.log'))
      return Promise.resolve()
    },
    async stop() {
      if (child) await killProgram(child, 'SIGTERM')
    },
    async setRecords(lines) {
      await write(lines)
      child?.kill('SIGHUP')
    },
    async [Symbol.asyncDispose]() {
      await primary.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
  await primary.start()
  return primary
}
