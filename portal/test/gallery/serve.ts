// Builds the gallery of charts and serves it under the portal's content security policy.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build } from 'vite'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
}
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'"

export type Gallery = { readonly url: string; readonly stop: () => Promise<void> }

/** Starts the gallery on a free port. Unknown addresses return the page, as in the portal. */
export async function startGallery(): Promise<Gallery> {
  const outDir = await mkdtemp(join(tmpdir(), 'pharos-gallery-'))
  await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'error',
    plugins: [react()],
    resolve: { alias: { typebox: join(import.meta.dirname, '../../src/api/shapes.ts') } },
    build: { outDir, assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
  })
  const page = readFileSync(join(outDir, 'index.html'))
  const server = createServer(({ url = '/' }, response) => {
    const path = new URL(url, 'http://gallery').pathname
    const isAsset = path.startsWith('/assets/') && !path.includes('..')
    response.setHeader(
      'content-type',
      isAsset ? (types[extname(path)] ?? 'application/octet-stream') : 'text/html',
    )
    response.setHeader('content-security-policy', policy)
    response.end(isAsset ? readFileSync(join(outDir, path)) : path === '/favicon.ico' ? '' : page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await rm(outDir, { recursive: true })
    },
  }
}
