// Runs docs/byoip-walkthrough.md: each `sh` block in one shell, and each line of the `text` block after it must be in the output. A
// block marked `repeat` is repeated until it matches, up to a limit.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'node:test'
import { freePort } from './address.ts'
import { demoObjects, demoVrps } from './demo-registry.ts'
import { createLab, type Lab } from './network.ts'
import { Pharos } from './pharos.ts'
import { skipWithout } from './program.ts'
import { startRegistries } from './registries.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

type Block = { readonly code: string; readonly repeat: boolean; readonly line: number; expected: string[] }

/** The blocks of the document with the expected output of each. */
function readBlocks(text: string): Block[] {
  const blocks: Block[] = []
  for (const match of text.matchAll(/^```(sh repeat|sh|text)\n([^]*?)^```$/gm)) {
    const [, kind, body] = match
    const line = text.slice(0, match.index).split('\n').length
    if (kind === 'text') blocks.at(-1)!.expected = body!.trim().split('\n')
    else blocks.push({ code: body!, repeat: kind === 'sh repeat', line, expected: [] })
  }
  return blocks
}

const doc = fileURLToPath(new URL('../../docs/byoip-walkthrough.md', import.meta.url))
const repeatMs = 30_000

/** One bash that keeps its variables from block to block. */
class Shell {
  readonly #child
  #out = ''

  constructor(env: Record<string, string>) {
    // BIRD's client is where daemons are, which an ordinary user's PATH may lack; the lab itself is for root.
    const path = `${process.env['PATH']}:/usr/sbin:/sbin`
    const given = { ...process.env, ...env, PATH: path }
    this.#child = spawn('bash', [], { env: given, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#out += text))
  }

  /** Returns the output of the code, up to a mark that is printed after it. */
  async run(code: string): Promise<string> {
    const mark = `--- ${crypto.randomUUID()} ---`
    this.#out = ''
    this.#child.stdin.write(`${code}\necho; echo '${mark}'\n`)
    const end = performance.now() + 30_000
    while (!this.#out.includes(mark)) {
      assert.ok(performance.now() < end, `no end of\n${code}\n${this.#out}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return this.#out.slice(0, this.#out.indexOf(mark))
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}

/** lab/platform.yaml with the addresses of this lab's routers. */
async function writePlatform(lab: Lab): Promise<string> {
  const text = readFileSync(new URL('../platform.yaml', import.meta.url), 'utf8')
  const [ams, fra] = lab.regions.map(({ apiAddress }) => apiAddress)
  const file = join(lab.folder, 'platform.yaml')
  await writeFile(file, text.replace('127.0.10.1:50051', ams!).replace('127.0.20.1:50051', fra!))
  return file
}

describe(
  'the walkthrough',
  { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc', 'stayrtr', 'curl') },
  () => {
    it('works as documented', async () => {
      await using lab = await createLab({ regions: ['ams', 'fra'], deferralSeconds: 3 })
      await using registries = await startRegistries({
        folder: lab.folder,
        vrps: demoVrps,
        objects: demoObjects,
      })
      const port = await freePort('127.0.0.1', 0)
      const platformFile = await writePlatform(lab)
      await using pharos = new Pharos({
        folder: lab.folder,
        platformFile,
        port,
        settings: registries.settings,
      })
      await pharos.start()
      await pharos.apply()
      using shell = new Shell({ LAB: lab.folder, url: pharos.url })
      for (const { code, repeat, line, expected } of readBlocks(readFileSync(doc, 'utf8'))) {
        const end = performance.now() + (repeat ? repeatMs : 0)
        for (;;) {
          const printed = (await shell.run(code)).replaceAll('\\n', '\n')
          const missing = expected.filter((text) => !printed.includes(text))
          if (missing.length === 0) break
          if (performance.now() > end) assert.fail(`line ${line}: ${missing.join(' | ')} not in\n${printed}`)
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      }
    })
  },
)
