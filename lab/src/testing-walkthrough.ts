// For tests: runs a document, each `sh` block in one shell, and each line of the `text` block after it must be in the output. A block marked
// `repeat` is repeated until it matches, up to a limit.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const repeatMs = 30_000
const root = fileURLToPath(new URL('../../', import.meta.url))

export type Walkthrough = {
  /** Path from the root of the repository, where the document is run. */
  readonly file: string
  /** Variables that the document uses. */
  readonly env: Readonly<Record<string, string>>
  /** Replaces fixed values of the document, such as ports. */
  readonly rewrite?: (code: string) => string
  /** Called before the first block below a heading. */
  readonly onSection?: (title: string) => Promise<void> | void
  /** Limit of one block; 30 s by default. */
  readonly blockMs?: number
}

/** Fails at the first block without its output, with the line of the document. */
export async function runWalkthrough({
  file,
  env,
  rewrite,
  onSection,
  blockMs = 30_000,
}: Walkthrough): Promise<void> {
  const text = readFileSync(join(root, file), 'utf8')
  using shell = new Shell(env)
  let current = ''
  for (const { code, repeat, line, section, expected } of readBlocks(text)) {
    if (section !== current) await onSection?.(section)
    current = section
    const end = performance.now() + (repeat ? repeatMs : 0)
    for (;;) {
      const printed = (await shell.run(rewrite?.(code) ?? code, blockMs)).replaceAll('\\n', '\n')
      const missing = expected.filter((text) => !printed.includes(text))
      if (missing.length === 0) break
      if (performance.now() > end) assert.fail(`line ${line}: ${missing.join(' | ')} not in\n${printed}`)
      await sleep(200)
    }
  }
}

type Block = {
  readonly code: string
  readonly repeat: boolean
  readonly line: number
  /** Title of the heading above it. */
  readonly section: string
  expected: string[]
}

/** The blocks of the document with the expected output of each. */
function readBlocks(text: string): Block[] {
  const blocks: Block[] = []
  for (const match of text.matchAll(/^```(sh repeat|sh|text)\n([^]*?)^```$/gm)) {
    const [, kind, body] = match
    const above = text.slice(0, match.index)
    const line = above.split('\n').length
    const section = [...above.matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? ''
    if (kind === 'text') blocks.at(-1)!.expected = body!.replace(/\n$/, '').split('\n')
    else blocks.push({ code: body!, repeat: kind === 'sh repeat', line, section, expected: [] })
  }
  return blocks
}

/** One bash that keeps its variables from block to block. */
class Shell {
  readonly #child
  #out = ''

  constructor(env: Readonly<Record<string, string>>) {
    // Clients of daemons are where daemons are, which an ordinary user's PATH may lack; the lab itself is for root.
    const path = `${process.env['PATH']}:/usr/sbin:/sbin`
    const given = { ...process.env, ...env, PATH: path }
    this.#child = spawn('bash', [], { cwd: root, env: given, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#out += text))
  }

  /** Returns the output of the code, up to a mark that is printed after it. */
  async run(code: string, limitMs: number): Promise<string> {
    const mark = `--- ${crypto.randomUUID()} ---`
    this.#out = ''
    this.#child.stdin.write(`${code}\necho; echo '${mark}'\n`)
    const end = performance.now() + limitMs
    while (!this.#out.includes(mark)) {
      assert.ok(performance.now() < end, `no end of\n${code}\n${this.#out}`)
      await sleep(10)
    }
    return this.#out.slice(0, this.#out.indexOf(mark))
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}
