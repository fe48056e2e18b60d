// Serves the built portal: browsers cache files with a hash in their name for a year, and request the page itself every
// time. Without a build, the start page explains how to build. It knows no operation of the API.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Brand } from '../brand/brand.ts'
import { brandStyle } from '../brand/palette.ts'
import { escapeText, isOpenedByBrowser } from './message-page.ts'

const folder = fileURLToPath(new URL('../../../portal/', import.meta.url))

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.woff2': 'font/woff2',
}

type Asset = { readonly type: string; readonly plain: Buffer; readonly brotli: Buffer | undefined }

export type PortalDeps = {
  readonly readBrand: () => Promise<Brand>
  /** Every page of an installation without an account leads to the page that creates the first one. */
  readonly isSetupOpen: () => Promise<boolean>
}

const setupPath = '/setup'

/**
 * Adds the portal's files, each as its own route, so that no request contains a path of the disk. Any other address
 * that a browser opens returns the portal, which resolves it with its own routes; the status is 404 if it has no such page.
 */
export function addPortal(
  server: FastifyInstance,
  { readBrand, isSetupOpen }: PortalDeps,
  built = `${folder}dist/`,
): void {
  addBrand(server, readBrand)
  if (!existsSync(`${built}index.html`)) return addStartPage(server)
  const page = readFileSync(`${built}index.html`, 'utf8')
  const isPage = createPageTest(JSON.parse(readFileSync(`${built}pages.json`, 'utf8')) as string[])
  const assetOf = createAssets(built)
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    if (isPage(request.url) && !request.url.startsWith(setupPath) && (await isSetupOpen()))
      return reply.header('cache-control', 'no-store').redirect(setupPath, 302)
    return showPage(reply.status(isPage(request.url) ? 200 : 404), page, await readBrand())
  }
  server.get('/', show)
  server.get('/*', (request, reply) =>
    isOpenedByBrowser(request) ? show(request, reply) : reply.callNotFound(),
  )
  // The second one while an attack is ongoing.
  for (const name of ['favicon.svg', 'favicon-alert.svg'])
    server.get(`/${name}`, (request, reply) => sendAsset(request, reply, assetOf(name), 'no-cache'))
  for (const name of readdirSync(`${built}assets`).filter((file) => !file.endsWith('.br'))) {
    server.get(`/assets/${name}`, (request, reply) =>
      sendAsset(request, reply, assetOf(`assets/${name}`), 'public, max-age=31536000, immutable'),
    )
  }
}

/** The style sheet of the accent and the logo. Both are read from memory, and revalidated with their ETag. */
function addBrand(server: FastifyInstance, readBrand: () => Promise<Brand>): void {
  server.get('/brand.css', async (request, reply) => {
    const { accent } = await readBrand()
    return sendTagged(request, reply, brandStyle(accent), 'text/css; charset=utf-8')
  })
  server.get('/brand/logo', async (request, reply) => {
    const { logo } = await readBrand()
    if (logo === null) return reply.callNotFound()
    reply.header('content-security-policy', "default-src 'none'; sandbox")
    return sendTagged(request, reply, logo, 'image/svg+xml; charset=utf-8')
  })
}

function sendTagged(request: FastifyRequest, reply: FastifyReply, text: string, type: string): FastifyReply {
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`
  reply.header('etag', etag).header('cache-control', 'no-cache')
  if (request.headers['if-none-match'] === etag) return reply.status(304).send()
  return reply.header('content-type', type).send(text)
}

/** Returns a test for addresses of the portal's pages; their paths have parameters such as `$id`. */
function createPageTest(paths: readonly string[]): (url: string) => boolean {
  const patterns = paths.map(
    (path) => new RegExp(`^${path.replace(/\$\w+/g, '[^/]+').replace(/\/$/, '')}/?$`),
  )
  return (url) => {
    const [path = ''] = url.split('?', 1)
    return patterns.some((pattern) => pattern.test(path))
  }
}

function addStartPage(server: FastifyInstance): void {
  server.get('/', (_request, reply) => {
    const page = readFileSync(`${folder}public/start.html`)
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header(
        'content-security-policy',
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
      )
      .header('cache-control', 'no-cache')
      .send(page)
  })
}

/**
 * Styles that the portal adds at run time carry the nonce of the response; scripts are loaded from the portal's own
 * files only.
 */
function showPage(reply: FastifyReply, page: string, brand: Brand): FastifyReply {
  const nonce = randomBytes(18).toString('base64url')
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policyWith(nonce))
    .header('cache-control', 'no-store')
    .header('cross-origin-opener-policy', 'same-origin')
    .send(branded(page, brand).replace('nonce=""', `nonce="${nonce}"`))
}

/** Fills the meta tags of the page, and adds the accent after the portal's own style sheets. */
function branded(page: string, { name, support, logo, accent }: Brand): string {
  const values = { provider: name, support: support ?? '', logo: logo === null ? '' : '/brand/logo' }
  const filled = Object.entries(values).reduce(
    (html, [key, value]) =>
      html.replace(
        `name="pharos:${key}" content=""`,
        () => `name="pharos:${key}" content="${escapeText(value)}"`,
      ),
    page,
  )
  return accent === null
    ? filled
    : filled.replace('</head>', '  <link rel="stylesheet" href="/brand.css" />\n  </head>')
}

const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // Images requested with a credential, such as the pages of a letter, are shown from blob: URLs.
    "img-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Files are read on the first request and kept in memory with their compressed form. */
function createAssets(built: string): (name: string) => () => Asset {
  const assets = new Map<string, Asset>()
  return (name) => () => {
    let asset = assets.get(name)
    if (!asset) {
      const packed = `${built}${name}.br`
      const type = mediaTypes[extname(name)] ?? 'application/octet-stream'
      const brotli = existsSync(packed) ? readFileSync(packed) : undefined
      assets.set(name, (asset = { type, plain: readFileSync(`${built}${name}`), brotli }))
    }
    return asset
  }
}

function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => Asset,
  cacheControl: string,
): FastifyReply {
  const { type, plain, brotli } = read()
  reply.header('content-type', type).header('cache-control', cacheControl).header('vary', 'accept-encoding')
  if (!brotli || !/\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(plain)
  return reply.header('content-encoding', 'br').send(brotli)
}
