// Name servers of others with the same zones as ours, for comparing answers: NSD, BIND and Knot on a port of loopback, from zone
// files, without transfers and without root.
import type { ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './address.ts'
import { killProgram, startProgram, type ProgramName } from './program.ts'
import { waitFor } from './wait.ts'

export type PeerName = 'nsd' | 'named' | 'knotd'

type Setup = { readonly folder: string; readonly port: number; readonly zones: readonly string[] }

/** The file of a zone in the folder; a zone's name ends with a dot. */
const fileOf = (zone: string): string => `${zone}zone`

type Peer = {
  readonly program: ProgramName
  readonly config: (setup: Setup) => string
  readonly args: (configFile: string) => readonly string[]
}

const peers: Record<PeerName, Peer> = {
  nsd: {
    program: 'nsd',
    config: ({ folder, port, zones }) => `server:
  ip-address: 127.0.0.1@${port}
  zonesdir: "${folder}"
  username: ""
  database: ""
  pidfile: "${folder}/nsd.pid"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  ipv4-edns-size: 1232
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${zones.map((zone) => `zone:\n  name: "${zone}"\n  zonefile: "${fileOf(zone)}"\n`).join('')}`,
    args: (configFile) => ['-d', '-c', configFile],
  },
  named: {
    program: 'named',
    // Without empty controls it opens port 953.
    config: ({ folder, port, zones }) => `options {
  directory "${folder}"; pid-file none; session-keyfile none; listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; }; recursion no; notify no; minimal-any yes; max-udp-size 1232; edns-udp-size 1232;
  dnssec-validation no; allow-transfer { any; }; empty-zones-enable no; zero-no-soa-ttl no;
};
controls { };
${zones.map((zone) => `zone "${zone}" { type primary; file "${fileOf(zone)}"; check-integrity no; check-mx ignore; check-names ignore; };`).join('\n')}
`,
    args: (configFile) => ['-g', '-c', configFile],
  },
  knotd: {
    program: 'knotd',
    config: ({ folder, port, zones }) => `server:
  rundir: "${folder}"
  listen: 127.0.0.1@${port}
  udp-max-payload: 1232
database:
  storage: "${folder}/db"
template:
  - id: default
    storage: "${folder}"
    file: "%s.zone"
zone:
${zones.map((zone) => `  - domain: "${zone}"\n    file: "${fileOf(zone)}"\n`).join('')}`,
    args: (configFile) => ['-c', configFile],
  },
}

export type RunningPeer = {
  readonly port: number
  readonly pid: number
  /** Sends the octets of a query and returns the octets of the response. */
  query(octets: Uint8Array, transport: 'udp' | 'tcp'): Promise<Uint8Array>
  stop(): Promise<void>
}

/** Starts the server with these zones, given as the text of their files, and waits until it answers. */
export async function startPeer(
  name: PeerName,
  zoneFiles: Readonly<Record<string, string>>,
): Promise<RunningPeer> {
  const { program, config, args } = peers[name]
  const folder = mkdtempSync(join(tmpdir(), `pharos-${name}-`))
  mkdirSync(join(folder, 'db'))
  const port = await freePort()
  const zones = Object.keys(zoneFiles)
  for (const [zone, text] of Object.entries(zoneFiles)) writeFileSync(join(folder, fileOf(zone)), text)
  const configFile = join(folder, 'config')
  writeFileSync(configFile, config({ folder, port, zones }))
  const child = startProgram(program, args(configFile), join(folder, 'log'))
  const query = (octets: Uint8Array, transport: 'udp' | 'tcp'): Promise<Uint8Array> =>
    transport === 'udp' ? queryUdp(port, octets) : queryTcp(port, octets)
  await waitFor(`${name} answers`, () => isAnswering(query, zones[0]!, child))
  return {
    port,
    pid: child.pid!,
    query,
    async stop() {
      await killProgram(child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Queries the SOA of a zone until the answer is without error. */
async function isAnswering(query: RunningPeer['query'], zone: string, child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null) throw new Error('the name server has ended: see its log')
  const labels = zone.split('.').filter((label) => label !== '')
  const name = labels.flatMap((label) => [label.length, ...Buffer.from(label)])
  const question = [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, 6, 0, 1]
  const answer = await query(Uint8Array.from(question), 'udp').catch(() => undefined)
  return answer !== undefined && (answer[3]! & 15) === 0
}

const timeoutMs = 2000

/** Sends the octets of a query to a port of loopback and returns the octets of the response. */
export function queryUdp(port: number, octets: Uint8Array): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const socket = createSocket('udp4')
  const timer = setTimeout(() => reject(new Error('no answer')), timeoutMs)
  socket.once('message', resolve).once('error', reject)
  socket.connect(port, '127.0.0.1', () => socket.send(octets))
  return promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}

function queryTcp(port: number, octets: Uint8Array): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const socket = connect(port, '127.0.0.1')
  const timer = setTimeout(() => reject(new Error('no answer')), timeoutMs)
  let received = Buffer.alloc(0)
  socket.once('error', reject).on('data', (part: Buffer) => {
    received = Buffer.concat([received, part])
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) resolve(received.subarray(2))
  })
  socket.write(Buffer.from([octets.length >> 8, octets.length & 255, ...octets]))
  return promise.finally(() => {
    clearTimeout(timer)
    socket.destroy()
  })
}
