// `npm run dev`: the demo platform for work on its code. Vite serves the portal with hot reload and forwards the API to
// the server, which restarts when a file of the server changes. PostgreSQL keeps running across restarts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { startEmbedded } from '../server/src/db/embedded.ts'
import { loadKeylessConfig, publicUrl } from '../server/src/runtime/config.ts'
import { realFiles } from '../server/src/runtime/files.ts'
import { untilStopped } from '../server/src/runtime/signals.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const watched = ['server/src', 'contract/src', 'demo'].map((folder) => join(root, folder))
const serverArgs = [
  '--import',
  join(root, 'scripts/end-with-parent.mjs'),
  'server/src/main.ts',
  'start',
  '--quiet',
  '--no-portal',
]
/** One save of an editor, or one checkout, is several changes. */
const SETTLE_MS = 100

const config = loadKeylessConfig(process.env, realFiles)
const url = publicUrl(config)
const apiPort = await freePort()
const api = `http://127.0.0.1:${apiPort}`
const env = { ...process.env, PHAROS_HOST: '127.0.0.1', PHAROS_PORT: String(apiPort), PHAROS_PUBLIC_URL: url }
const forwarded = ['/v3', '/docs', '/healthz', '/readyz']
let isStarting = true
let isRestarting = false
let isStopping = false
let timer

const database =
  config.databaseUrl === null
    ? await startEmbedded({ dataDir: join(config.dataDir, 'postgres'), log: write })
    : undefined
const vite = await createServer({
  root: join(root, 'portal'),
  logLevel: 'warn',
  plugins: [
    { name: 'wait for the server', configureServer: (dev) => void dev.middlewares.use(waitForServer) },
  ],
  server: {
    host: config.host,
    port: config.port,
    strictPort: true,
    proxy: Object.fromEntries(forwarded.map((path) => [path, api])),
  },
})
await vite.listen()
let server = startServer()
void untilStopped().then(stop)
vite.watcher.add(watched).on('change', restart).on('add', restart).on('unlink', restart)
await untilStarted()
write(
  `\n  ${url}  portal and API of the demo platform, with reload (demo@demo.example, pharos-demo-password)\n`,
)

/** Detached: Ctrl-C reaches this process only, which then stops the server once. */
function startServer() {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc']
  const child = spawn(process.execPath, serverArgs, { cwd: root, env, stdio, detached: true })
  isStarting = true
  child.on('exit', (status) => {
    if (child !== server || isStopping || isRestarting) return
    isStarting = false
    write(`The server ended with status ${status}; it starts again when a file changes.`)
  })
  void untilReady(child)
  return child
}

function restart(file) {
  const isCode = watched.some((folder) => file.startsWith(folder)) && !/\.test\.ts$|~$/.test(file)
  if (!isCode || isStopping) return
  clearTimeout(timer)
  timer = setTimeout(async () => {
    if (isRestarting) return restart(file)
    isRestarting = true
    write(`${relative(root, file)} changed: restarting the server`)
    await end(server)
    isRestarting = false
    if (!isStopping) server = startServer()
  }, SETTLE_MS)
}

/** A request during a restart waits for its end instead of failing. */
function waitForServer(request, _response, next) {
  if (forwarded.some((path) => request.url.startsWith(path))) void callWhenStarted(next)
  else next()
}

async function callWhenStarted(next) {
  await untilStarted()
  next()
}

function isDelayed() {
  return (isStarting || isRestarting) && !isStopping
}

async function untilStarted() {
  while (isDelayed()) await sleep(50)
}

async function stop() {
  isStopping = true
  await end(server)
  await vite.close()
  await database?.stop()
  process.exit()
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function untilReady(child) {
  while (child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(`${api}/readyz`).catch(() => undefined)
    if (answer?.ok && child === server) return void (isStarting = false)
    await sleep(50)
  }
}

async function freePort() {
  const probe = createTcpServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

function write(message) {
  process.stderr.write(`${message}\n`)
}
