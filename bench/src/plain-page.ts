// The peer of the portal: a plain page of Vite, React and Mantine with a form to sign in, built and compressed like the
// portal and served from memory on this machine. It measures the cost of the libraries alone.
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'vite'

const source = fileURLToPath(new URL('plain-page/', import.meta.url))
const types = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html' } as const

type PlainPage = { readonly url: string } & AsyncDisposable

export async function startPlainPage(folder: string): Promise<PlainPage> {
  const outDir = join(folder, 'plain-page')
  await build({ root: source, logLevel: 'error', build: { outDir, emptyOutDir: true } })
  const files = new Map(readFiles(outDir))
  const server = createServer((request, response) => {
    const name = request.url === '/' ? '/index.html' : (request.url ?? '')
    const packed = files.get(name)
    if (!packed) return response.writeHead(404).end()
    const type = types[/\.\w+$/.exec(name)?.[0] as keyof typeof types]
    return response.writeHead(200, { 'content-type': type, 'content-encoding': 'br' }).end(packed)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function readFiles(folder: string): [string, Buffer][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => [file.slice(folder.length), brotliCompressSync(readFileSync(file))])
}
