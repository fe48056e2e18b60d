// A BIRD that validates routes by ROAs: the VRPs in its ROA tables, the announcements as static routes, and pipes whose filters
// call roa_check for each of them. A pipe's cost is the daemon's processor time from enabling it until all are filtered.
import { type ChildProcess, execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { killProgram, programPath, startProgram } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import type { Family } from '../../server/src/net/bits.ts'
import { vrpPrefix } from '../../server/src/registry/objects/vrp.ts'
import type { RoaData } from './roa-data.ts'

const run = promisify(execFile)

/** `checked` calls roa_check and `plain` does not; `valid` and `invalid` accept the routes of that state. */
type Filter = 'checked' | 'plain' | 'valid' | 'invalid'

const filters: Record<Filter, string> = {
  checked: 'if roa_check(@, net, origin) = ROA_VALID then reject; reject;',
  plain: 'if origin = 0 then accept; reject;',
  valid: 'if roa_check(@, net, origin) = ROA_VALID then accept; reject;',
  invalid: 'if roa_check(@, net, origin) = ROA_INVALID then accept; reject;',
}

export class RoaBird {
  readonly #folder: string
  readonly #socket: string
  #child: ChildProcess | undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#socket = join(folder, 'roa.ctl')
  }

  /** Loading is not measured. */
  async start(data: RoaData): Promise<void> {
    const configFile = join(this.#folder, 'roa-bird.conf')
    await writeFile(configFile, tables)
    for (const family of [4, 6] as const) await appendFamily(configFile, family, data)
    const args = ['-f', '-c', configFile, '-s', this.#socket, '-P', join(this.#folder, 'roa-bird.pid')]
    this.#child = startProgram('bird', args, join(this.#folder, 'roa-bird.log'))
    await waitFor('BIRD has its routes', () => this.#has(data).catch(() => false), {
      timeoutMs: 300_000,
      everyMs: 200,
    })
  }

  /** Milliseconds of processor time of roa_check for all routes: with it, minus the same without it. */
  async check(data: RoaData): Promise<number> {
    const checked = await this.#run('checked', data)
    const plain = await this.#run('plain', data)
    return Math.max(1, checked.cpuMs - plain.cpuMs)
  }

  /** Number of routes in that state. */
  async count(filter: 'valid' | 'invalid', data: RoaData): Promise<number> {
    return (await this.#run(filter, data)).accepted
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await killProgram(this.#child, 'SIGKILL')
  }

  /** Both families, one after the other, each through a separate pipe. */
  async #run(filter: Filter, data: RoaData): Promise<{ cpuMs: number; accepted: number }> {
    const before = await this.#cpuMs()
    let accepted = 0
    for (const family of [4, 6] as const) {
      const count = data.announced.filter((one) => one.family === family).length
      await this.#birdc(`enable ${filter}${family}`)
      accepted += await waitFor(
        `${filter}${family} is done`,
        () => this.#acceptedOf(`${filter}${family}`, count),
        {
          timeoutMs: 120_000,
          everyMs: 5,
        },
      ).then(({ accepted }) => accepted)
    }
    const cpuMs = (await this.#cpuMs()) - before
    for (const family of [4, 6]) await this.#birdc(`disable ${filter}${family}`)
    return { cpuMs, accepted }
  }

  async #acceptedOf(pipe: string, count: number): Promise<{ accepted: number } | undefined> {
    const text = await this.#birdc(`show protocols all ${pipe}`)
    const [received = 0, , , , accepted = 0] = (/Export updates:(.*)/.exec(text)?.[1] ?? '')
      .trim()
      .split(/\s+/)
      .map(Number)
    return received >= count ? { accepted } : undefined
  }

  async #has({ announced, vrps }: RoaData): Promise<boolean> {
    const counts = await Promise.all(
      ['routes4', 'routes6', 'roas4', 'roas6'].map(async (table) =>
        Number(/(\d+) of /.exec(await this.#birdc(`show route count table ${table}`))?.[1]),
      ),
    )
    return counts.reduce((sum, count) => sum + count, 0) === announced.length + vrps.length
  }

  async #birdc(command: string): Promise<string> {
    return (await run(programPath('birdc'), ['-s', this.#socket, ...command.split(' ')])).stdout
  }

  /** Ticks of 10 ms: fields 14 and 15 of /proc/pid/stat, user and system. */
  async #cpuMs(): Promise<number> {
    const text = await readFile(`/proc/${this.#child!.pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return 10 * (Number(fields[11]) + Number(fields[12]))
  }
}

const tables = `
router id 127.0.0.1;
attribute int origin;
roa4 table roas4; roa6 table roas6;
ipv4 table routes4; ipv6 table routes6;
ipv4 table out4; ipv6 table out6;
`

async function appendFamily(file: string, family: Family, { vrps, announced }: RoaData): Promise<void> {
  const out = createWriteStream(file, { flags: 'a' })
  out.write(`protocol static given${family} { roa${family} { table roas${family}; };\n`)
  for (const vrp of vrps)
    if (vrp.family === family) out.write(`route ${vrpPrefix(vrp)} max ${vrp.maxLength} as ${vrp.asn};\n`)
  out.write(`}\nprotocol static announced${family} { ipv${family} { table routes${family}; };\n`)
  for (const one of announced)
    if (one.family === family) out.write(`route ${vrpPrefix(one)} blackhole { origin = ${one.asn}; };\n`)
  out.write('}\n')
  for (const [name, body] of Object.entries(filters)) {
    const pipe = `${name}${family}`
    out.write(`filter by_${pipe} { ${body.replace('@', `roas${family}`)} }\n`)
    out.write(`protocol pipe ${pipe} { disabled; table routes${family}; peer table out${family}; `)
    out.write(`import none; export filter by_${pipe}; }\n`)
  }
  out.end()
  await finished(out)
}
