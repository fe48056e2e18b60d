// softflowd on the host of a packet path: a real exporter of flows, which captures the packets of an interface and
// sends NetFlow 9 or IPFIX over a separate link to this machine. It needs root.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { killProgram, programPath, startProgram } from './program.ts'
import { unlessAborted, waitFor } from './wait.ts'

const run = promisify(execFile)

export type ExportLink = {
  /** Address of this machine, on which a collector listens. */
  readonly collector: string
  /** Address of the host: the source of its flows. */
  readonly exporter: string
  [Symbol.asyncDispose](): Promise<void>
}

/** Links a namespace with this machine, on `subnet` (three octets, such as `198.19.0`). It is removed with the namespace, too. */
export async function createExportLink(
  namespace: string,
  device: string,
  subnet: string,
): Promise<ExportLink> {
  const ip = async (...args: string[]) => void (await run('ip', args))
  const remove = () => ip('link', 'delete', device).catch(() => {})
  const [collector, exporter] = [`${subnet}.1`, `${subnet}.2`]
  await remove() // rest of a killed process
  await ip('link', 'add', device, 'type', 'veth', 'peer', 'name', 'flows0', 'netns', namespace)
  try {
    await ip('address', 'add', `${collector}/30`, 'dev', device)
    await ip('link', 'set', device, 'up')
    await ip('-n', namespace, 'address', 'add', `${exporter}/30`, 'dev', 'flows0')
    await ip('-n', namespace, 'link', 'set', 'flows0', 'up')
  } catch (error) {
    await remove()
    throw error
  }
  return { collector, exporter, [Symbol.asyncDispose]: remove }
}

export type FlowExporterOptions = {
  /** Folder of its files. */
  readonly folder: string
  readonly namespace: string
  /** The interface whose packets it counts, in both directions. */
  readonly device: string
  readonly version: 9 | 10
  /** Address and port of the collector. */
  readonly target: string
  readonly signal?: AbortSignal
}

export type FlowExporter = {
  /** Ends it; it exports all flows first. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Flows are exported within seconds, not after a minute as by a router. But softflowd 1.1.0 gets packets from libpcap in blocks of 128 KiB,
 * without a time limit: some hundred packets wait for the next ones.
 */
const timeouts = ['maxlife=5', 'expint=1']

/** Resolves when it captures packets. */
export async function startFlowExporter(options: FlowExporterOptions): Promise<FlowExporter> {
  const { folder, namespace, device, version, target, signal } = options
  mkdirSync(folder, { recursive: true })
  const log = join(folder, 'softflowd.log')
  const files = ['-p', join(folder, 'softflowd.pid'), '-c', join(folder, 'softflowd.ctl')]
  const child = startProgram(
    'ip',
    [
      'netns',
      'exec',
      namespace,
      programPath('softflowd'),
      '-D',
      ...files,
      ...timeouts.flatMap((timeout) => ['-t', timeout]),
      '-i',
      device,
      '-v',
      String(version),
      '-n',
      target,
    ],
    log,
  )
  const stop = () => killProgram(child, 'SIGTERM')
  try {
    await unlessAborted(
      waitFor(`softflowd captures packets, see ${log}`, () =>
        /Starting data collection|Exporting flows/.test(readFileSync(log, 'utf8')),
      ),
      signal,
    )
  } catch (error) {
    await killProgram(child, 'SIGKILL')
    throw error
  }
  return { stop, [Symbol.asyncDispose]: stop }
}
