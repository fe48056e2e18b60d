// PostgreSQL on three machines under Patroni, with etcd, behind HAProxy, as docs/operating/high-availability.md shows it: a namespace
// for each member, etcd and HAProxy on this machine. Each member can be killed, suspended and cut off. It needs root.
import { execFile, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { findDebianPostgres } from '../../server/src/db/testing-debian.ts'
import { createMachines, type Machine } from './namespace.ts'
import { killProgram, programPath, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

export const faults = ['kill', 'stop', 'cut'] as const
export type Fault = (typeof faults)[number]

export type HaMember = {
  readonly name: string
  /** The name of its network namespace. */
  readonly namespace: string
  /** `kill`: all its processes; `stop`: they are suspended; `cut`: its link is down. */
  fail(fault: Fault): Promise<void>
  /** Undoes it. The member joins again as a standby. */
  heal(fault: Fault): Promise<void>
}

export type HaPostgres = {
  /** HAProxy's address, behind which there is always the leader. */
  readonly databaseUrl: string
  readonly members: readonly HaMember[]
  /** Folder of the logs. */
  readonly folder: string
  /** The member with the lock of the leader, by the same query as HAProxy's; undefined during a failover. */
  leader(): Promise<HaMember | undefined>
  /** Resolves when there are a leader, a synchronous standby and a third member that follows. */
  settled(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const names = ['one', 'two', 'three'] as const
const ports = { etcd: 2379, peers: 2380, postgres: 5432, patroni: 8008, proxy: 5000 }

/** Its folder is removed with it, unless PHAROS_LAB_KEEP is 1. */
export async function startHaPostgres(): Promise<HaPostgres> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'pharos-ha-'))
  if (process.env['PHAROS_LAB_KEEP'] !== '1')
    stack.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  // PostgreSQL is run by another user.
  chmodSync(folder, 0o755)
  const network = stack.use(await createMachines(names.length))
  const { here } = network
  const start = (name: 'etcd' | 'haproxy', ...args: readonly string[]) => {
    const child = startProgram(name, args, join(folder, `${name}.log`))
    stack.defer(() => killProgram(child, 'SIGKILL'))
  }
  const [client, peer] = [`http://${here}:${ports.etcd}`, `http://${here}:${ports.peers}`]
  start(
    'etcd',
    '--enable-v2',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  )
  const owner = await idsOf('postgres')
  const members = network.machines.map((machine, at) => {
    const member = new Member(folder, names[at]!, machine, here, owner)
    stack.defer(() => member.stop())
    return member
  })
  for (const member of members) member.start()
  const proxyFile = join(folder, 'haproxy.cfg')
  writeFileSync(
    proxyFile,
    proxyConfiguration(
      here,
      members.map(({ name, machine: { address } }) => ({ name, address })),
    ),
  )
  start('haproxy', '-db', '-f', proxyFile)
  const server = `postgresql://postgres@${here}:${ports.proxy}`
  const leader = async () => {
    const answers = await Promise.all(members.map((member) => member.isLeader()))
    return members[answers.indexOf(true)]
  }
  const settled = async () => {
    const what = 'a leader with a synchronous and another standby'
    await waitFor(what, async () => (await rolesOf(members)) === 'leader,replica,sync_standby', {
      everyMs: 200,
    })
  }
  await settled()
  await createDatabase(`${server}/postgres`)
  const running = stack.move()
  return {
    databaseUrl: `${server}/pharos`,
    members,
    folder,
    leader,
    settled,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

type Place = { readonly name: string; readonly address: string }
type Owner = { readonly uid: number; readonly gid: number }
type Cluster = { readonly members: readonly { readonly role: string; readonly state: string }[] }

class Member implements HaMember {
  readonly name: string
  readonly namespace: string
  readonly machine: Machine
  readonly #folder: string
  readonly #file: string
  #patroni: ChildProcess | undefined

  constructor(folder: string, name: string, machine: Machine, here: string, owner: Owner) {
    this.name = name
    this.namespace = machine.command.at(-1)!
    this.machine = machine
    this.#folder = join(folder, name)
    this.#file = join(this.#folder, 'patroni.json')
    mkdirSync(this.#folder)
    // YAML in JSON's form.
    writeFileSync(this.#file, JSON.stringify(patroniConfiguration(this.#folder, name, machine.address, here)))
    for (const path of [this.#folder, this.#file]) chownSync(path, owner.uid, owner.gid)
  }

  start(): void {
    const { command } = this.machine
    // PostgreSQL refuses to be run by root.
    const user = [
      'setpriv',
      '--reuid',
      'postgres',
      '--regid',
      'postgres',
      '--init-groups',
      '--pdeathsig',
      'KILL',
    ]
    const args = [...command.slice(1), ...user, '--', programPath('patroni'), this.#file]
    this.#patroni = startProgram('ip', args, join(this.#folder, '..', `${this.name}.log`))
  }

  async stop(): Promise<void> {
    await this.machine.signal('SIGKILL')
    if (this.#patroni) await killProgram(this.#patroni, 'SIGKILL')
  }

  async fail(fault: Fault): Promise<void> {
    if (fault === 'kill') await this.stop()
    else if (fault === 'stop') await this.machine.signal('SIGSTOP')
    else await this.machine.setLink('down')
  }

  async heal(fault: Fault): Promise<void> {
    if (fault === 'kill') this.start()
    else if (fault === 'stop') await this.machine.signal('SIGCONT')
    else await this.machine.setLink('up')
  }

  async isLeader(): Promise<boolean> {
    return (await this.#ask('/primary'))?.ok === true
  }

  /** The cluster as this member sees it; undefined if it does not answer. */
  async cluster(): Promise<Cluster | undefined> {
    const answer = await this.#ask('/cluster')
    return answer?.ok === true ? ((await answer.json()) as Cluster) : undefined
  }

  #ask(path: string): Promise<Response | undefined> {
    const url = `http://${this.machine.address}:${ports.patroni}${path}`
    return fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  }
}

/** The sorted roles of the members that run. */
async function rolesOf(members: readonly Member[]): Promise<string | undefined> {
  for (const member of members) {
    if (!(await member.isLeader())) continue
    const running = (await member.cluster())?.members.filter(({ state }) => /running|streaming/.test(state))
    return running
      ?.map(({ role }) => role)
      .toSorted()
      .join()
  }
  return undefined
}

/** A leader that fails is replaced after 20 s, the least that Patroni permits. */
export const patroniSettings = {
  ttl: 20,
  loop_wait: 5,
  retry_timeout: 5,
  synchronous_mode: true,
  postgresql: {
    use_pg_rewind: true,
    remove_data_directory_on_rewind_failure: true,
    parameters: { max_connections: 200, wal_log_hints: 'on', wal_keep_size: '1GB' },
  },
}

function patroniConfiguration(folder: string, name: string, address: string, here: string) {
  const bin = findDebianPostgres()?.postgres
  const rules = [
    'local all all trust',
    `host all all ${here}/24 trust`,
    `host replication all ${here}/24 trust`,
  ]
  return {
    scope: 'pharos',
    name,
    restapi: { listen: `${address}:${ports.patroni}`, connect_address: `${address}:${ports.patroni}` },
    // Not etcd3: with Patroni 3.0 a suspended leader takes its lock back without a check, and the writes of the next
    // leader are lost.
    etcd: { hosts: [`${here}:${ports.etcd}`] },
    bootstrap: {
      dcs: patroniSettings,
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: `${address}:${ports.postgres}`,
      connect_address: `${address}:${ports.postgres}`,
      data_dir: join(folder, 'data'),
      bin_dir: bin === undefined ? '' : join(bin, '..'),
      pgpass: join(folder, 'pgpass'),
      pg_hba: rules,
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      parameters: { unix_socket_directories: folder },
    },
  }
}

/** Connections last as long as they like, and end with the leadership of their server. */
export const proxyConfiguration = (here: string, members: readonly Place[]): string => `defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
listen postgres
  bind ${here}:${ports.proxy}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${members.map(({ name, address }) => `  server ${name} ${address}:${ports.postgres} check port ${ports.patroni}\n`).join('')}`

async function idsOf(user: string): Promise<Owner> {
  const ask = async (flag: string) => Number((await promisify(execFile)('id', [flag, user])).stdout)
  return { uid: await ask('-u'), gid: await ask('-g') }
}

async function createDatabase(server: string): Promise<void> {
  await waitFor('HAProxy has found the leader', async () => {
    const client = new Client({ connectionString: server, connectionTimeoutMillis: 5_000 })
    try {
      await client.connect()
      await client.query('create database pharos')
      return true
    } catch {
      return false
    } finally {
      await client.end().catch(() => {})
    }
  })
}
