#!/usr/bin/env node
// `pharos` of a checkout or a release: replaces itself with the program, under the Node.js that runs it. It must not install anything.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nodeFlags, nodeMajorMin } from './runtime.mjs'

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  process.stderr.write(`Pharos needs Node.js ${nodeMajorMin} or later; this is ${process.version}.\n`)
  process.exit(1)
}
const [source, bundle] = ['src/main.ts', 'bundle/main.mjs'].map((file) =>
  fileURLToPath(new URL(`../${file}`, import.meta.url)),
)
// A release has the server in one file, too. The demo loads the sources.
const main = process.argv[2] !== 'start' && existsSync(bundle) ? bundle : source
process.execve(
  process.execPath,
  [process.execPath, ...nodeFlags, main, ...process.argv.slice(2)],
  process.env,
)
