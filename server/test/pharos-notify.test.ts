// docs/detectors/pharos-notify.sh as a real process against the real server: with the arguments and texts that FastNetMon
// Community gives it, while Pharos does not answer, and called by FastNetMon itself if it is installed.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { skipWithout } from '../../lab/src/program.ts'
import { sourceSecretMac } from '../src/events/ingest/delivery.ts'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { createTestApi, type TestApi } from './api.ts'

const script = fileURLToPath(new URL('../../docs/detectors/pharos-notify.sh', import.meta.url))
const secret = 'detector "secret" \\ 1'
const run = promisify(execFile)

let api: TestApi
let url: string
let folder: string

before(async () => {
  api = await createTestApi()
  await api.database.postgres.owner
    .insertInto('sources')
    .values({
      key: 'community',
      kind: 'fastnetmon-community',
      name: 'edge',
      secret_mac: sourceSecretMac(api.config.secret, secret),
    })
    .execute()
  url = `${await api.server.listen({ port: 0, host: '127.0.0.1' })}/v3/ingest/events/community`
  folder = mkdtempSync(join(tmpdir(), 'pharos-notify-'))
})
after(async () => {
  await api[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

let installations = 0

/** Writes a configuration with a separate spool; returns its path and the spool. */
function install(to: string): { conf: string; spool: string } {
  const [conf, spool] = [join(folder, `conf-${++installations}`), join(folder, `spool-${installations}`)]
  const token = join(folder, 'token')
  writeFileSync(token, `${secret}\n`, { mode: 0o600 })
  writeFileSync(
    conf,
    `URL='${to}'\nTOKEN_FILE='${token}'\nSPOOL='${spool}'\nRETRIES='1 1 1'\nATTACKS='${join(folder, 'attacks')}'\n`,
  )
  return { conf, spool }
}

/** Calls the script as FastNetMon does: text on the standard input, which is closed. Rejects on another exit code than 0. */
async function notify(conf: string, args: readonly string[], text: unknown = ''): Promise<void> {
  const process = spawn(script, args, {
    env: { PATH: globalThis.process.env.PATH, PHAROS_NOTIFY_CONF: conf },
  })
  process.stdin.end(String(text))
  const [code] = (await once(process, 'exit')) as [number]
  assert.equal(code, 0)
}

const flush = (conf: string) =>
  run(script, ['--flush'], { env: { PATH: process.env.PATH, PHAROS_NOTIFY_CONF: conf } })
const queueOf = (spool: string) => readdirSync(join(spool, 'queue'))

async function until<T>(what: () => T | Promise<T>, seconds = 90): Promise<NonNullable<T>> {
  for (const end = Date.now() + seconds * 1000; ;) {
    const value = await what()
    if (value) return value
    if (Date.now() > end) assert.fail(`not within ${seconds} s: ${what.toString()}`)
    await sleep(50)
  }
}

const events = async () => {
  await ingestDeliveries(api.database.postgres, createOwnershipCache())
  return api.database.postgres.owner
    .selectFrom('events')
    .select(['source_event_id', 'affected_network', 'status', 'classification_key', 'affected_pps'])
    .orderBy('affected_network')
    .orderBy('start_at')
    .execute()
}
const stored = () => api.database.postgres.owner.selectFrom('deliveries').select(['state', 'body']).execute()
const text = (name: string) => fixture(`fastnetmon-community-${name}`).details

describe('pharos-notify', { skip: skipWithout('curl') }, () => {
  it('sends ban, details and unban of an attack, which are one event', async () => {
    const { conf, spool } = install(url)
    await notify(conf, ['203.0.113.77', 'incoming', '1903', 'ban'], text('ban'))
    await notify(conf, ['203.0.113.77', 'incoming', '1903', 'attack_details'], text('attack-details'))
    await notify(
      conf,
      ['2001:db8:a::7', 'outgoing', '500', 'ban'],
      'IP: 2001:db8:a::7\n"quoted" \\ \t\u00e9\u0001\n',
    )
    await until(async () => (await stored()).length === 3)
    const found = await events()
    assert.deepEqual(
      found.map(({ affected_network, status, classification_key, affected_pps }) => [
        affected_network,
        status,
        classification_key,
        affected_pps,
      ]),
      [
        ['203.0.113.77/32', ['EVENT_PENDING'], 'udp.amplification.dns', 1_903],
        ['2001:db8:a::7/128', ['EVENT_PENDING'], 'unknown', 500],
      ],
    )
    await notify(conf, ['203.0.113.77', 'incoming', '1903', 'unban'])
    await until(async () => (await stored()).length === 4)
    const [ended, open, ...others] = await events()
    assert.deepEqual([ended!.status, open!.status, others], [['EVENT_ENDED'], ['EVENT_PENDING'], []])
    assert.deepEqual(
      (await stored()).map(({ state }) => state),
      Array(4).fill('done'),
    )
    await until(() => queueOf(spool).length === 0)
    assert.deepEqual(readdirSync(join(spool, 'bans')), ['2001_db8_a__7'])
    // The next attack on the address, in another second, is another event.
    await sleep(1_000)
    await notify(conf, ['203.0.113.77', 'incoming', '9', 'ban'])
    await until(async () => (await events()).length === 3)
  })

  it('sends the report of FastNetMon as a file of the event', async () => {
    const { conf, spool } = install(url)
    mkdirSync(join(folder, 'attacks'))
    writeFileSync(
      join(folder, 'attacks', '2001:db8:a::9_26_11_25_10:00:00.txt'),
      'IP: 2001:db8:a::9\nAttack type: unknown\n',
    )
    await notify(conf, ['2001:db8:a::9', 'incoming', '1903', 'ban'], text('ban'))
    await notify(conf, ['2001:db8:a::9', 'incoming', '1903', 'attack_details'], text('attack-details'))
    const files = () =>
      api.database.postgres.owner
        .selectFrom('attachments')
        .innerJoin('events', 'events.id', 'attachments.subject_id')
        .select(['affected_network', 'filename', 'content'])
        .execute()
    await until(async () => (await events(), await files()).length === 1)
    const [file] = await files()
    assert.deepEqual(
      [file!.affected_network, file!.filename],
      ['2001:db8:a::9/128', '2001_db8_a_9_26_11_25_10_00_00.txt'],
    )
    assert.match(file!.content!.toString(), /^IP: 2001:db8:a::9\nAttack type/)
    await until(() => queueOf(spool).length === 0)
    await api.database.postgres.owner.deleteFrom('events').execute()
    await api.database.postgres.owner.deleteFrom('deliveries').execute()
  })

  it('returns at once while Pharos does not answer, keeps the secret from other users, and sends later', async () => {
    await api.database.postgres.owner.deleteFrom('deliveries').execute()
    const silent = await listen()
    const { conf, spool } = install(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/x`)
    const before = process.hrtime.bigint()
    await notify(conf, ['203.0.113.80', 'incoming', '7', 'ban'], 'text\n'.repeat(40_000))
    assert.ok(process.hrtime.bigint() - before < 15_000_000_000n, 'it does not wait for the answer')
    await until(() => commandsOf('curl').find((one) => one.includes(spool)))
    assert.ok(!commandsOf('').some((one) => one.includes('detector "secret"')), 'not an argument')
    silent.close()
    for (const socket of sockets) socket.destroy()
    await until(() => !existsSync(join(spool, 'lock')))
    assert.equal(queueOf(spool).length, 1)
    await assert.rejects(flush(conf), 'the notification remains')
    writeFileSync(conf, readFileSync(conf, 'utf8').replace(/URL='[^']*'/, `URL='${url}'`))
    await flush(conf)
    assert.deepEqual(queueOf(spool), [])
    const [delivery, ...others] = await stored()
    assert.deepEqual(others, [])
    assert.ok(delivery!.body.length < 200_000, 'long details are truncated')
    assert.ok((await events()).some(({ affected_network }) => affected_network === '203.0.113.80/32'))
  })

  it('keeps what is refused for its secret, sets aside what is refused for good, and survives a missing configuration', async () => {
    const { conf, spool } = install(url)
    const right = readFileSync(conf, 'utf8')
    const wrong = join(folder, 'wrong')
    writeFileSync(wrong, 'another secret', { mode: 0o600 })
    writeFileSync(conf, right.replace(/TOKEN_FILE='[^']*'/, `TOKEN_FILE='${wrong}'`))
    await notify(conf, ['203.0.113.81', 'incoming', '7', 'ban'])
    await until(() => existsSync(join(spool, 'lock')))
    await until(() => !existsSync(join(spool, 'lock')))
    assert.equal(queueOf(spool).length, 1)
    writeFileSync(conf, right.replace(`URL='${url}'`, `URL='${url}?validate=maybe'`))
    await flush(conf)
    assert.equal(readdirSync(join(spool, 'rejected')).length, 1)
    await notify(join(folder, 'no such file'), ['203.0.113.81', 'incoming', '7', 'ban'], 'text')
    await notify(conf, [])
  })

  it('is called by FastNetMon Community', { skip: !existsSync('/usr/sbin/fastnetmon') }, async () => {
    const { conf, spool } = install(url)
    const called = join(folder, 'called.sh')
    writeFileSync(called, `#!/bin/sh\nPHAROS_NOTIFY_CONF='${conf}' exec '${script}' "$@"\n`)
    chmodSync(called, 0o755)
    const port = 20_000 + (process.pid % 20_000)
    const detector = spawn(
      'fastnetmon',
      [
        `--configuration_file=${fastnetmonConf(called, port)}`,
        `--log_file=${join(folder, 'log')}`,
        '--disable_pid_logic',
      ],
      { stdio: 'ignore' },
    )
    const attack = netflow(port)
    try {
      const open = await until(async () => (await events()).find(isReal))
      assert.match(open.source_event_id, /^203\.0\.113\.99\/32\|\d+$/)
      assert.equal(open.classification_key, 'udp.amplification.dns')
      attack.stop()
      await until(async () => (await events()).find(isReal)?.status.includes('EVENT_ENDED'), 180)
      await until(() => queueOf(spool).length === 0)
      assert.equal((await events()).filter(isReal).length, 1)
    } finally {
      attack.stop()
      detector.kill('SIGKILL')
      await once(detector, 'exit')
    }
  })
})

const isReal = ({ affected_network }: { affected_network: string | null }) =>
  affected_network === '203.0.113.99/32'

const sockets = new Set<import('node:net').Socket>()

/** A server that accepts connections and never answers. */
async function listen(): Promise<Server> {
  const server = createServer((socket) => sockets.add(socket.on('error', () => {}).unref()))
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return server
}

/** The command lines of running processes that contain the word. */
function commandsOf(word: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')]
      } catch {
        return []
      }
    })
    .filter((command) => command.includes(word))
}

function fastnetmonConf(notifyScript: string, port: number): string {
  const path = (name: string, content = '') => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const settings = {
    disable_usage_report: 'on',
    enable_ban: 'on',
    ban_time: 5,
    ban_for_pps: 'on',
    threshold_pps: 1_000,
    ban_details_records_count: 20,
    check_period: 1,
    average_calculation_time: 5,
    speed_calculation_delay: 1,
    process_incoming_traffic: 'on',
    enable_connection_tracking: 'on',
    unban_only_if_attack_finished: 'on',
    monitor_local_ip_addresses: 'off',
    netflow: 'on',
    netflow_host: '127.0.0.1',
    netflow_port: port,
    netflow_sampling_ratio: 1,
    networks_list_path: path('networks', '203.0.113.0/24\n'),
    white_list_path: path('white'),
    notify_script_path: notifyScript,
    cli_stats_file_path: path('stats'),
    cli_stats_ipv6_file_path: path('stats6'),
    enable_api: 'off',
    prometheus: 'off',
  }
  return path(
    'fastnetmon.conf',
    Object.entries(settings)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join(''),
  )
}

/** Sends NetFlow version 5 of a DNS amplification towards 203.0.113.99. */
function netflow(port: number): { stop(): void } {
  const socket = createSocket('udp4').on('error', () => {})
  const address = (a: number, b: number, c: number, d: number) => ((a * 256 + b) * 256 + c) * 256 + d
  const count = 30
  const timer = setInterval(() => {
    const packet = Buffer.alloc(24 + count * 48)
    packet.writeUInt16BE(5, 0)
    packet.writeUInt16BE(count, 2)
    packet.writeUInt32BE(100_000, 4)
    packet.writeUInt32BE(Math.floor(Date.now() / 1000), 8)
    for (let flow = 0; flow < count; flow++) {
      const at = 24 + flow * 48
      packet.writeUInt32BE(address(198, 51, 100, flow + 1), at)
      packet.writeUInt32BE(address(203, 0, 113, 99), at + 4)
      packet.writeUInt32BE(50, at + 16)
      packet.writeUInt32BE(50 * 1_400, at + 20)
      packet.writeUInt32BE(99_000, at + 24)
      packet.writeUInt32BE(100_000, at + 28)
      packet.writeUInt16BE(53, at + 32)
      packet.writeUInt16BE(40_000 + flow, at + 34)
      packet[at + 38] = 17
    }
    socket.send(packet, port, '127.0.0.1')
  }, 100)
  let isStopped = false
  return {
    stop() {
      if (isStopped) return
      isStopped = true
      clearInterval(timer)
      socket.close()
    },
  }
}
