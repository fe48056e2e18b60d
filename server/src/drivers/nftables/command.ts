// Runs nft(8), on this host or through a command that runs it elsewhere. No shell is involved. A transaction is read from a file as
// standard input: nft opens /dev/stdin again, which fails for the sockets that Node gives to child processes.
import { spawn } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DriverError } from '../../runtime/driver-error.ts'

export type NftCommand = { readonly command: readonly string[]; readonly timeoutMs: number }

/** A table of 10,000 rules is about 10 MB of JSON. */
const outputOctetsMax = 256 * 1024 * 1024
const errorOctetsMax = 2_000

/** Exit status of ssh for its own failures, and of shells for a missing program. */
const unreachableStatus = new Set([126, 127, 255])

/** Resolves with the output. Rejects with DriverError: `refused` if nft rejected it. */
export async function runNft(
  nft: NftCommand,
  args: readonly string[],
  input: string,
  signal?: AbortSignal,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-nft-'))
  try {
    const file = join(folder, 'transaction')
    const written = await open(file, 'wx', 0o600)
    await written.writeFile(input)
    await written.close()
    const stdin = await open(file, 'r')
    try {
      return await runWith(nft, args, stdin.fd, signal)
    } finally {
      await stdin.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function runWith(
  { command, timeoutMs }: NftCommand,
  args: readonly string[],
  stdin: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const [program, ...rest] = command
  const name = command.join(' ')
  return new Promise((resolve, reject) => {
    const child = spawn(program!, [...rest, ...args], { stdio: [stdin, 'pipe', 'pipe'], signal })
    const output: Buffer[] = []
    let octets = 0
    let errors = ''
    let failure: DriverError | undefined
    const stop = (error: DriverError): void => {
      failure ??= error
      child.kill('SIGKILL')
      // A grandchild, such as a shell's, may still hold the pipes.
      child.stdout!.destroy()
      child.stderr!.destroy()
    }
    const timer = setTimeout(
      () => stop(new DriverError('unreachable', `${name}: no answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    child.stdout!.on('data', (part: Buffer) => {
      octets += part.length
      if (octets > outputOctetsMax) stop(new DriverError('protocol', `${name}: the answer is too long`))
      else output.push(part)
    })
    child.stderr!.on('data', (part: Buffer) => {
      if (errors.length < errorOctetsMax) errors += part.toString('utf8')
    })
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(failure ?? new DriverError('unreachable', `${name}: ${error.message}`, { cause: error }))
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      if (failure) return reject(failure)
      if (code === 0) return resolve(Buffer.concat(output).toString('utf8'))
      const kind = code === null || unreachableStatus.has(code) ? 'unreachable' : 'refused'
      reject(new DriverError(kind, `${name}: status ${code}: ${errors.trim().slice(0, errorOctetsMax)}`))
    })
  })
}
