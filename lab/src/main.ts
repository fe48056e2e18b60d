// `npm run lab`: the network, until Ctrl-C. What runs in it and what to try is printed; nothing outlives it.
import { once } from 'node:events'
import { createLab, type Lab, type LabRegion } from './network.ts'
import { ensurePrograms } from './packages.ts'
import { labRegions } from './regions.ts'

async function main(): Promise<void> {
  await ensurePrograms()
  await using lab = await createLab({
    regions: labRegions.map(({ name }) => name),
    subnets: labRegions.map(({ subnet }) => subnet),
    fixedPorts: true,
    deferralSeconds: 5,
  })
  print(describe(lab))
  await interrupted()
  print('\nStopping.\n')
}

function describe(lab: Lab): string {
  return `${lab.regions.map(describeRegion).join('\n')}
Logs and configurations are in ${lab.folder} while it runs. Ctrl-C ends it.
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
