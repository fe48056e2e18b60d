// `npm run lab` as a user runs it: its end, and its errors at start. Its addresses are fixed, so only one can run at a time.
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { requireFreePort, freePort } from './address.ts'
import { labPrograms } from './packages.ts'
import { pidsOf, skipWithout } from './program.ts'
import { labDnsPorts } from './dns-network.ts'
import { labRegions } from './regions.ts'
import { waitFor } from './wait.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const skip = skipWithout(...labPrograms)
const slow = { everyMs: 5 }

describe('npm run lab', { skip }, () => {
  it('stops at the first Ctrl-C, which reaches every process of the terminal, and leaves nothing', async (t) => {
    const lab = await startLab(t)
    await lab.waitForOutput(/Ctrl-C stops everything/)
    lab.signalAll('SIGINT')
    assert.deepEqual(await lab.exit, [0, null])
    await lab.isGone()
  })

  it('starts again at once, and stops when only npm gets the signal', async (t) => {
    const lab = await startLab(t)
    await lab.waitForOutput(/Ctrl-C stops everything/)
    lab.child.kill('SIGTERM')
    assert.deepEqual(await lab.exit, [0, null])
    await lab.isGone()
  })

  it('stops during its start', async (t) => {
    for (const program of ['gobgpd', 'stayrtr', 'postgres']) {
      const lab = await startLab(t)
      await waitFor(`${program} runs`, () => lab.processes().some((line) => line.includes(program)), slow)
      lab.signalAll('SIGINT')
      const [status, signal] = await lab.exit
      assert.ok(status === 130 || signal === 'SIGINT', `${program}: ${status} ${signal}\n${lab.errors()}`)
      assert.doesNotMatch(lab.errors(), /^ +at /m)
      await lab.isGone()
    }
  })

  it('reports a used address without a stack trace, and leaves nothing behind', async (t) => {
    const running = await startLab(t)
    await running.waitForOutput(/Ctrl-C stops everything/)
    const second = await startLab(t)
    assert.deepEqual(await second.exit, [1, null])
    assert.match(second.errors(), /127\.0\.\d0\.\d:\d+ is in use: is the lab running\?/)
    assert.doesNotMatch(second.errors(), /^ +at /m)
    running.signalAll('SIGINT')
    await running.exit
    await running.isGone()
  })

  it('takes other ports where another program has the usual ones, and says so', async (t) => {
    const server = createServer().listen(labDnsPorts.primary, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const lab = await startLab(t)
    await lab.waitForOutput(new RegExp(`Ports .* replaced in this lab: ${labDnsPorts.primary} is \\d+\\.`))
    lab.signalAll('SIGINT')
    await lab.exit
    await lab.isGone()
  })

  const cannotHide =
    process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0
      ? false
      : 'needs root and mount namespaces'
  it('prints what to install if a program is missing and cannot be installed', { skip: cannotHide }, () => {
    // In a user namespace, so that the checkout can be read, whoever owns it.
    const script = `mount --bind /dev/null "$(command -v stayrtr)" &&
      exec unshare --user --map-user=65534 --map-group=65534 "$0" lab/src/main.ts`
    const result = spawnSync('unshare', ['-m', 'sh', '-c', script, process.execPath], { cwd: root })
    assert.equal(
      String(result.stderr),
      'The lab needs stayrtr. Run as root: apt-get install stayrtr. Or run npm run lab as root, which installs it.\n',
    )
    assert.deepEqual([result.status, String(result.stdout)], [1, ''])
  })
})

type RunningLab = {
  readonly child: ChildProcess
  readonly exit: Promise<unknown[]>
  waitForOutput(pattern: RegExp): Promise<unknown>
  /** Signals every process in the group, as a terminal does. */
  signalAll(signal: NodeJS.Signals): void
  errors(): string
  /** Command lines of processes that contain the lab's folder. */
  processes(): string[]
  isGone(): Promise<void>
}

async function startLab(t: TestContext): Promise<RunningLab> {
  const port = await freePort()
  const free = await freeAddresses(port)
  // A separate folder, so that other labs of this machine are not counted.
  const home = mkdtempSync('/tmp/lab-')
  const child = spawn('npm', ['run', 'lab'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: home, PHAROS_PORT: String(port) },
  })
  const exit = once(child, 'exit')
  const output = { out: '', err: '' }
  child.stdout!.on('data', (chunk) => (output.out += chunk))
  child.stderr!.on('data', (chunk) => (output.err += chunk))
  const processes = () => processesOf(home)
  t.after(() => {
    for (const pid of pidsOf(home)) process.kill(pid, 'SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })
  return {
    child,
    exit,
    waitForOutput: (pattern) =>
      waitFor(
        String(pattern),
        () => {
          assert.equal(child.exitCode, null, output.err)
          return pattern.test(output.out)
        },
        slow,
      ),
    signalAll: (signal) => process.kill(-child.pid!, signal),
    errors: () => output.err,
    processes,
    async isGone() {
      // npm keeps compiled code in a folder of that name.
      const left = readdirSync(home).filter((name) => name !== 'node-compile-cache')
      assert.deepEqual([processes(), left], [[], []])
      for (const [address, port] of free) await requireFreePort(address, port)
      assert.equal(existsSync(`/proc/${child.pid}`), false)
    },
  }
}

/** The addresses of a lab, without addresses used by another program. */
async function freeAddresses(port: number): Promise<readonly (readonly [string, number])[]> {
  const all = [
    ...labRegions.flatMap(({ subnet }) => [
      [`${subnet}.1`, 50051] as const,
      [`${subnet}.1`, 17900] as const,
      [`${subnet}.2`, 17900] as const,
    ]),
    ...Object.values(labDnsPorts).map((number) => ['127.0.0.1', number] as const),
    ['127.0.30.1', 8282] as const,
    ['127.0.30.1', 4343] as const,
    ['127.0.0.1', port] as const,
  ]
  const isFree = await Promise.all(
    all.map(([address, number]) =>
      requireFreePort(address, number).then(
        () => true,
        () => false,
      ),
    ),
  )
  return all.filter((_, at) => isFree[at])
}

function processesOf(folder: string): string[] {
  return pidsOf(folder).map((pid) => {
    try {
      return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`
    } catch {
      return String(pid)
    }
  })
}
