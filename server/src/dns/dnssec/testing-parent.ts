// For tests: a signed parent zone at Knot with a delegation to a child on this process, and Unbound, which validates both. All on
// loopback without root; TTLs are seconds, so that caches expire within a test.
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@pharos/lab/address'
import { queryUdp } from '@pharos/lab/authoritative-peer'
import { killProgram, programPath, startProgram } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { decodeMessage, emptyMessage, type Message } from '../../net/dns/message.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { parseName, type DomainName } from '../../net/dns/name.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import { respond, type Responder } from '../answer/respond.ts'

/** The zones of the test. */
const parentZone = 'test.'
export const childZone = 'child.test.'

export type Hierarchy = {
  readonly parentPort: number
  readonly resolverPort: number
  /** Replaces the DS records at the parent. */
  setDs(rdata: readonly Uint8Array[], ttl: number): void
  /** Asks the resolver, with DO. */
  resolve(name: DomainName, type: number): Promise<Message>
  close(): Promise<void>
}

async function ask(port: number, name: DomainName, type: number): Promise<Message> {
  const query = encodeMessage({
    ...emptyMessage,
    id: Math.floor(Math.random() * 65_536),
    rd: true,
    questions: [{ name, type, class: 1 }],
    edns: { udpSize: 1232, version: 0, do: true, options: [] },
  })
  return decodeMessage(await queryUdp(port, query))
}

/** Starts the three; `child` answers for the child zone, and may change at any time. */
export async function startHierarchy(child: () => Responder): Promise<Hierarchy> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-dnssec-'))
  mkdirSync(join(folder, 'db'))
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const response = respond(child(), query, 'udp')
    if (response) socket.send(response, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const childPort = socket.address().port
  const parentPort = await freePort('127.0.0.1', 0)
  const resolverPort = await freePort('127.0.0.1', 0)
  writeFileSync(join(folder, 'test.zone'), parentText)
  writeFileSync(join(folder, 'knot.conf'), knotConfig(folder, parentPort))
  const knot = startProgram('knotd', ['-c', join(folder, 'knot.conf')], join(folder, 'knot.log'))
  const parentName = parseName(parentZone)
  const dnskey = await waitFor('the parent is signed', async () => {
    const answer = await ask(parentPort, parentName, recordType.DNSKEY).catch(() => undefined)
    return answer?.answers.find(({ type }) => type === recordType.DNSKEY)
  })
  const anchor = `${parentZone} IN DNSKEY ${printRdata(recordType.DNSKEY, dnskey.rdata)}\n`
  writeFileSync(join(folder, 'anchor.key'), anchor)
  writeFileSync(join(folder, 'unbound.conf'), unboundConfig(folder, resolverPort, parentPort, childPort))
  const unbound = startProgram(
    'unbound',
    ['-d', '-c', join(folder, 'unbound.conf')],
    join(folder, 'unbound.log'),
  )
  await waitFor('the resolver answers', async () => {
    const answer = await ask(resolverPort, parentName, recordType.SOA).catch(() => undefined)
    return answer?.rcode === 0
  })
  const knotc = (...args: string[]): void => {
    execFileSync(programPath('knotc'), ['-c', join(folder, 'knot.conf'), ...args], { stdio: 'pipe' })
  }
  let hasDs = false
  return {
    parentPort,
    resolverPort,
    setDs(rdata, ttl) {
      knotc('zone-begin', parentZone)
      if (hasDs) knotc('zone-unset', parentZone, childZone, 'DS')
      for (const data of rdata)
        knotc('zone-set', parentZone, childZone, String(ttl), 'DS', printRdata(recordType.DS, data))
      hasDs = rdata.length > 0
      knotc('zone-commit', parentZone)
    },
    resolve: (name, type) => ask(resolverPort, name, type),
    async close() {
      await Promise.all([killProgram(unbound, 'SIGKILL'), killProgram(knot, 'SIGKILL')])
      socket.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const parentText = `$ORIGIN ${parentZone}
$TTL 3
@ SOA ns hostmaster 1 3600 900 1209600 1
@ NS ns
ns A 127.0.0.1
child NS ns.child
ns.child A 127.0.0.1
`

const knotConfig = (folder: string, port: number): string => `server:
  rundir: "${folder}"
  listen: 127.0.0.1@${port}
control:
  listen: "${folder}/knot.sock"
database:
  storage: "${folder}/db"
policy:
  - id: quick
    single-type-signing: on
    dnskey-ttl: 3
    nsec3: off
zone:
  - domain: ${parentZone}
    storage: "${folder}"
    file: test.zone
    dnssec-signing: on
    dnssec-policy: quick
    zonefile-sync: -1
    zonefile-load: difference
    journal-content: all
`

/** The DS record is asked of the parent's servers, although the child has its own. */
const unboundConfig = (
  folder: string,
  port: number,
  parentPort: number,
  childPort: number,
): string => `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  interface: 127.0.0.1
  port: ${port}
  do-ip6: no
  do-daemonize: no
  do-not-query-localhost: no
  local-zone: "${parentZone}" nodefault
  trust-anchor-file: "${folder}/anchor.key"
  aggressive-nsec: no
  val-bogus-ttl: 1
  cache-max-negative-ttl: 1
  infra-host-ttl: 1
  num-threads: 1
  prefetch: no
  prefetch-key: no
remote-control:
  control-enable: no
stub-zone:
  name: "${parentZone}"
  stub-addr: 127.0.0.1@${parentPort}
stub-zone:
  name: "${childZone}"
  stub-addr: 127.0.0.1@${childPort}
`
