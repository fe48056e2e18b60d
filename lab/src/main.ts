// `npm run lab`: the network with Pharos, until Ctrl-C. It prints the running programs and example commands, and
// removes everything at the end. `npm run lab -- --ha`: with its database on three machines under Patroni.
import { once } from 'node:events'
import { constants } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { freePort, requireFreePort } from './address.ts'
import { demoObjects, demoVrps } from './demo-registry.ts'
import { startHaPostgres, type HaPostgres } from './ha-postgres.ts'
import { labDnsPorts, startDnsNetwork, type DnsNetwork } from './dns-network.ts'
import { writeLabPlatform } from './lab-platform.ts'
import { createLab, type Lab, type LabRegion } from './network.ts'
import { ensurePrograms, haPrograms, labPrograms } from './packages.ts'
import { Pharos } from './pharos.ts'
import { labRegions } from './regions.ts'
import { startRegistries, type LabRegistries } from './registries.ts'
import { describeShield, type ShieldNetwork, startShieldNetwork } from './shield-network.ts'
import { unlessAborted } from './wait.ts'

const usualPort = 8080

/** Signals arrive more than once: from the terminal to every process, and again from npm. The first one counts. */
const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interruption.abort(new Interrupted(signal)))

/** Aborts the start; `status` is the exit code. */
class Interrupted extends Error {
  readonly status: number

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super('Stopped.')
    this.status = 128 + constants.signals[signal]
  }
}

async function main(): Promise<void> {
  const { signal } = interruption
  const isHa = process.argv.includes('--ha')
  await ensurePrograms(isHa ? [...labPrograms, ...haPrograms] : labPrograms)
  await using lab = await createLab({
    regions: labRegions.map(({ name }) => name),
    subnets: labRegions.map(({ subnet }) => subnet),
    fixedPorts: true,
    deferralSeconds: 5,
    signal,
  })
  await using registries = await startRegistries({
    folder: lab.folder,
    subnet: '127.0.30',
    fixedPorts: true,
    vrps: demoVrps,
    objects: demoObjects,
    signal,
  })
  await using dns = await startDnsNetwork({ folder: lab.folder, fixedPorts: true, signal })
  const platformFile = await writeLabPlatform(lab.folder, { dns })
  await using shield = await startShieldNetwork(lab.folder, platformFile, signal)
  await using cluster = isHa ? await startHaPostgres() : null
  const database = cluster && {
    DATABASE_URL: cluster.databaseUrl,
    PHAROS_SECRET: 'a secret of 32 bytes for the lab only',
  }
  const settings = { ...registries.settings, ...dns.settings, ...shield.settings, ...database }
  // Its runtime files are deleted with the lab's folder, whenever it is stopped.
  const env = { ...settings, TMPDIR: lab.folder }
  await using pharos = new Pharos({
    folder: lab.folder,
    platformFile: shield.platformFile,
    port: await choosePort(),
    settings: env,
  })
  if (isHa) await pharos.command('migrate')
  await unlessAborted(startPharos(pharos), signal)
  print(describe(lab, pharos, registries, dns, shield))
  if (cluster) print(describeCluster(cluster))
  if (!signal.aborted) await once(signal, 'abort')
  print('\nStopping.\n')
}

/** The port of the settings, which has to be free, or the usual one, or any other. */
async function choosePort(): Promise<number> {
  const set = process.env['PHAROS_PORT']
  if (set === undefined) return freePort('127.0.0.1', usualPort)
  return requireFreePort('127.0.0.1', Number(set)).catch(() => {
    throw new Error(
      `127.0.0.1:${set} is used by another program: stop it, or set PHAROS_PORT to another port.`,
    )
  })
}

async function startPharos(pharos: Pharos): Promise<void> {
  await pharos.start()
  await pharos.apply()
}

function describe(
  lab: Lab,
  { url, logFile }: Pharos,
  { vrpFile, rpslFile }: LabRegistries,
  dns: DnsNetwork,
  shield: ShieldNetwork,
): string {
  return `Pharos runs at ${url}, with the accounts demo, other, acme and staff (each @demo.example), password pharos-demo-password.

${lab.regions.map(describeRegion).join('\n')}
Disable an announcement and watch the neighbors:

  access=$(curl -s ${url}/v3/session/token -H 'Content-Type: application/json' \\
    -d '{"email":"demo@demo.example","password":"pharos-demo-password"}' | sed 's/.*"access":"\\([^"]*\\).*/\\1/')
  curl -s "${url}/v3/ipam/announcements" -H "Authorization: Bearer $access"
  curl -s -X PATCH ${url}/v3/ipam/announcements/1 -H "Authorization: Bearer $access" \\
    -H 'Content-Type: application/json' -d '{"enabled":false,"region":"ams"}'

To announce a prefix of your own, follow docs/byoip-walkthrough.md, with

  export LAB=${lab.folder} url=${url}

${describeDns(dns)}
${describeShield(shield)}
The registries reload these files when they change: ROAs in ${vrpFile},
route objects in ${rpslFile}.

Logs and configurations are in ${lab.folder} while it runs, Pharos's log is ${logFile}. Ctrl-C stops everything.
`
}

function describeRegion({ name, apiAddress, asn, peerAsn, gobgpd, bird }: LabRegion): string {
  const [host, port] = apiAddress.split(':')
  return `Region ${name}: gobgpd AS${asn}, API at ${apiAddress}; its neighbor is BIRD, AS${peerAsn}
  routes of the router        gobgp -u ${host} -p ${port} global rib        (-a ipv6)
  routes of the neighbor      birdc -r -s ${bird.socket} show route
  changes as they happen      tail -f ${bird.logFile} | grep '>'
  kill the router             kill -9 ${gobgpd.pid}        (it is restarted as systemd does, and the neighbor loses nothing)
`
}

function describeCluster({ databaseUrl, members, folder }: HaPostgres): string {
  return `Its database is ${databaseUrl}, on three machines under Patroni.
${members.map(({ name, namespace }) => `  ${name.padEnd(6)} kill -9 $(ip netns pids ${namespace})   ip -n ${namespace} link set eth0 down\n`).join('')}
Logs of Patroni, etcd and HAProxy are in ${folder}.
`
}

function describeDns({ ports, root, followers }: DnsNetwork): string {
  const port = (number: number): string => `dig @127.0.0.1 -p ${number}`
  return `DNS: Pharos is the hidden primary, and these answer for it. Caches and waits are ${root.options.ttl} seconds.
  Pharos                      ${port(ports.primary)} shop.example
${followers.map((one) => `  ${one.name.padEnd(26)}  ${port(one.port)} shop.example`).join('\n')}
  Unbound, validating         ${port(ports.resolver)} shop.example +dnssec
  the root, which delegates   ${port(ports.root)} shop.example NS
  enter DS records there      knotc -c ${root.configFile} -b zone-begin .     (docs/dns-walkthrough.md)

A zone from a file to a validated answer is in docs/dns-walkthrough.md.
${describeReplaced(ports)}`
}

/** The walkthrough has the usual ports. */
function describeReplaced(ports: DnsNetwork['ports']): string {
  const replaced = Object.entries(ports).filter(
    ([name, own]) => labDnsPorts[name as keyof typeof labDnsPorts] !== own,
  )
  const list = replaced.map(([name, own]) => `${labDnsPorts[name as keyof typeof labDnsPorts]} is ${own}`)
  return list.length === 0
    ? ''
    : `Ports that other programs use are replaced in this lab: ${list.join(', ')}.\n`
}

function print(text: string): void {
  process.stdout.write(text)
}

try {
  await main()
} catch (error) {
  // Ctrl-C reaches the programs too: one may have ended, as an error, before the signal is handled here.
  await turn()
  const reason: unknown = interruption.signal.aborted ? interruption.signal.reason : error
  process.stderr.write(`${(reason as Error).message}\n`)
  process.exitCode = reason instanceof Interrupted ? reason.status : 1
}
// Stops processes that an interrupted start may still have started.
process.exit()
