// `npm run lab`: the network and Pharos on top of it, until Ctrl-C. What runs and what to try is printed; nothing
// outlives it.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { demoObjects, demoVrps } from './demo-registry.ts'
import { createLab, type Lab, type LabRegion } from './network.ts'
import { ensurePrograms } from './packages.ts'
import { Pharos } from './pharos.ts'
import { labRegions } from './regions.ts'
import { startRegistries, type LabRegistries } from './registries.ts'

const platformFile = fileURLToPath(new URL('../platform.yaml', import.meta.url))
const port = Number(process.env['PHAROS_PORT'] ?? 8080)

async function main(): Promise<void> {
  await ensurePrograms()
  await using lab = await createLab({
    regions: labRegions.map(({ name }) => name),
    subnets: labRegions.map(({ subnet }) => subnet),
    fixedPorts: true,
    deferralSeconds: 5,
  })
  const stop = interrupted()
  await using registries = await startRegistries({
    folder: lab.folder,
    subnet: '127.0.30',
    fixedPorts: true,
    vrps: demoVrps,
    objects: demoObjects,
  })
  const { settings } = registries
  await using pharos = new Pharos({ folder: lab.folder, platformFile, port, settings })
  await pharos.start()
  await pharos.apply()
  print(describe(lab, pharos, registries))
  await stop
  print('\nStopping.\n')
}

function describe(lab: Lab, { url, logFile }: Pharos, { vrpFile, rpslFile }: LabRegistries): string {
  return `Pharos is at ${url}, with the accounts demo, other, acme and staff (each @demo.example), password pharos-demo-password.

${lab.regions.map(describeRegion).join('\n')}
Switch an announcement and watch the neighbours:

  access=$(curl -s ${url}/v3/session/token -H 'Content-Type: application/json' \\
    -d '{"email":"demo@demo.example","password":"pharos-demo-password"}' | sed 's/.*"access":"\\([^"]*\\).*/\\1/')
  curl -s "${url}/v3/ipam/announcements" -H "Authorization: Bearer $access"
  curl -s -X PATCH ${url}/v3/ipam/announcements/1 -H "Authorization: Bearer $access" \\
    -H 'Content-Type: application/json' -d '{"enabled":false,"region":"ams"}'

Bring a prefix of your own: docs/byoip-walkthrough.md, with

  export LAB=${lab.folder} url=${url}

The registries follow these files as they change: ROAs in ${vrpFile},
route objects in ${rpslFile}.

Logs and configurations are in ${lab.folder} while it runs, Pharos's log is ${logFile}. Ctrl-C ends everything.
`
}

function describeRegion({ name, apiAddress, asn, peerAsn, gobgpd, bird }: LabRegion): string {
  const [host, port] = apiAddress.split(':')
  return `Region ${name}: gobgpd AS${asn}, API at ${apiAddress}; its neighbour is BIRD, AS${peerAsn}
  what the router announces   gobgp -u ${host} -p ${port} global rib        (-a ipv6)
  what the neighbour holds    birdc -r -s ${bird.socket} show route
  each change as it happens   tail -f ${bird.logFile} | grep '>'
  kill the router             kill -9 ${gobgpd.pid}        (it is restarted as systemd would, the neighbour loses nothing)
`
}

async function interrupted(): Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  await Promise.race(['SIGINT', 'SIGTERM'].map((name) => once(process, name, { signal })))
  stop.abort()
}

function print(text: string): void {
  process.stdout.write(text)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
