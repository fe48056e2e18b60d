// For tests: what dig prints for a question.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns the lines of `dig +short` at a port of 127.0.0.1; other arguments as they are. */
export async function dig(port: number, ...args: string[]): Promise<string> {
  const { stdout } = await run('dig', ['@127.0.0.1', '-p', String(port), '+tries=1', '+time=5', ...args])
  return stdout.trim()
}
