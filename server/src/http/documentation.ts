// Pages besides the API and the portal: the documentation, the OpenAPI document, the public keys. No page loads
// anything from a third party, and each has its own strict content security policy.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { apiDocument } from '@pharos/contract/document/document'
import { groupPath, groups, type Group } from '@pharos/contract/group'
import { openapi30 } from '@pharos/contract/document/openapi-30'
import { problemPath, problems, type ProblemCode } from '@pharos/contract/problem'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { version } from '../runtime/version.ts'
import { changelogOf } from './docs/changelog.ts'
import {
  anchorOf,
  headingsOf,
  markdownToHtml,
  pageOf,
  type NavigationSection,
  type DocumentPage,
} from './docs/html.ts'
import {
  groupBody,
  operationsBody,
  operationsOf,
  problemBody,
  problemsBody,
  typesBody,
  type ApiDocument,
} from './docs/reference.ts'

const require = createRequire(import.meta.url)

const assetPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
// Swagger UI writes style attributes, and draws its icons from data: URLs.
const explorerPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

const portalFile = (name: string) => new URL(`../../../portal/public/${name}`, import.meta.url)
const swaggerFile = (name: string) => require.resolve(`swagger-ui-dist/${name}`)
const ownFile = (name: string) => new URL(`./docs/${name}`, import.meta.url)
const guideFile = (name: string) => new URL(`../../../docs/${name}.md`, import.meta.url)
const changelogFile = new URL('../../../CHANGELOG.md', import.meta.url)

/** Adds the pages. `jwks` is called for every request, since keys rotate. */
export function addDocumentation(server: FastifyInstance, jwks: () => object): void {
  // Most processes never send the documentation, so it is rendered on the first request.
  const document = once(() => apiDocument(version, server.publicUrl) as unknown as ApiDocument)
  const documentText = once(() => JSON.stringify(document()))
  const olderDocumentText = once(() => JSON.stringify(openapi30(apiDocument(version, server.publicUrl))))
  const navigation = once(() => navigationOf(document()))
  const file = (url: string, path: string | URL, type: string, policy = assetPolicy) =>
    server.get(url, async (_request, reply) => asset(reply, await readFile(path), type, policy))
  const page = (url: string, render: () => DocumentPage) => {
    const rendered = once(() => pageOf(render(), url, navigation()))
    server.get(url, async (_request, reply) => asset(reply, rendered(), 'text/html', pagePolicy))
  }
  const guide = (url: string, name: string, title: string) =>
    page(url, () => ({ title, body: markdownToHtml(readGuide(name, server.publicUrl), linkOf) }))

  file('/assets/portal.css', portalFile('portal.css'), 'text/css')
  // Browsers request it without being told, also where the portal is not built.
  server.get('/favicon.ico', async (_request, reply) =>
    asset(reply, await readFile(portalFile('favicon.ico')), 'image/x-icon', assetPolicy),
  )
  file('/docs/assets/docs.css', ownFile('docs.css'), 'text/css')
  file('/docs/assets/docs.js', ownFile('docs.js'), 'text/javascript')
  guide('/docs', 'api', 'Guide')
  guide('/docs/webhooks', 'webhooks', 'Webhooks')
  guide('/docs/stream', 'stream', 'Stream')
  guide('/docs/flows', 'flows', 'Flows')
  guide('/docs/versioning', 'versioning', 'Versioning')
  page('/docs/changelog', () => ({
    title: 'Changelog',
    body: markdownToHtml(changelogOf(readFileSync(changelogFile, 'utf8')), linkOf),
  }))
  for (const name of Object.keys(groups) as Group[])
    page(groupPath(name), () => ({
      title: name,
      body: groupBody(document(), { name, description: groups[name] }),
    }))
  page('/docs/reference/operations', () => ({ title: 'Operations', body: operationsBody(document()) }))
  page('/docs/reference/types', () => ({ title: 'Types', body: typesBody(document()) }))
  page('/docs/problems', () => ({ title: 'Error codes', body: problemsBody() }))
  for (const code of Object.keys(problems) as ProblemCode[])
    page(problemPath(code), () => ({ title: code, body: problemBody(document(), code) }))

  file('/docs/assets/swagger-ui.css', swaggerFile('swagger-ui.css'), 'text/css')
  file('/docs/assets/swagger-ui.js', swaggerFile('swagger-ui-bundle.js'), 'text/javascript')
  server.get('/docs/assets/explorer.js', async (_request, reply) =>
    asset(reply, explorerScript, 'text/javascript', assetPolicy),
  )
  server.get('/docs/explorer', async (_request, reply) =>
    asset(reply, explorerPage, 'text/html', explorerPolicy),
  )
  server.get('/v3/openapi.json', async (_request, reply) =>
    asset(reply, documentText(), 'application/json', assetPolicy),
  )
  server.get('/v3/openapi-3.0.json', async (_request, reply) =>
    asset(reply, olderDocumentText(), 'application/json', assetPolicy),
  )
  server.get('/.well-known/jwks.json', async (_request, reply) =>
    asset(reply, JSON.stringify(jwks()), 'application/jwk-set+json', assetPolicy),
  )
}

/** Returns a function that calls `compute` the first time, and returns the same result from then on. */
function once<T>(compute: () => T): () => T {
  let result: { readonly value: T } | undefined
  return () => (result ??= { value: compute() }).value
}

function asset(reply: FastifyReply, content: string | Buffer, type: string, policy: string): FastifyReply {
  return reply
    .header('content-type', type.startsWith('image/') ? type : `${type}; charset=utf-8`)
    .header('content-security-policy', policy)
    .header('cache-control', 'no-cache')
    .serializer((body: unknown) => body as string)
    .send(content)
}

/** A Markdown file of docs/, with this server in its examples. */
const readGuide = (name: string, url: string): string =>
  readFileSync(guideFile(name), 'utf8').replaceAll('https://pharos.example', url)

/** Returns the address of a linked file of the repository; undefined for a file that is not served. */
function linkOf(target: string): string | undefined {
  if (target.startsWith('https:')) return target
  const [name, anchor] = target.split('#')
  const path = pagesOfFiles[name!]
  return path === undefined ? undefined : `${path}${anchor === undefined ? '' : `#${anchor}`}`
}

const pagesOfFiles: Readonly<Record<string, string>> = {
  'api.md': '/docs',
  'webhooks.md': '/docs/webhooks',
  'stream.md': '/docs/stream',
  'flows.md': '/docs/flows',
  'versioning.md': '/docs/versioning',
  '../CHANGELOG.md': '/docs/changelog',
  '../contract/src/problem.ts': '/docs/problems',
}

/** The sections of the guide, the operations of each group, and the messages of webhooks. */
function navigationOf(document: ApiDocument): NavigationSection[] {
  const operations = operationsOf(document)
  const guide = headingsOf(readGuide('api', document.servers[0]!.url))
  return [
    {
      title: 'Guide',
      links: [
        ...guide.map((text) => ({ href: `/docs#${anchorOf(text)}`, text })),
        { href: '/docs/webhooks', text: 'Webhooks', words: Object.keys(document.webhooks).join(' ') },
        { href: '/docs/stream', text: 'Stream', words: 'server-sent events sse' },
        { href: '/docs/versioning', text: 'Versioning', words: 'deprecation sunset compatibility breaking' },
        { href: '/docs/changelog', text: 'Changelog', words: 'release notes new' },
      ],
    },
    ...document.tags.map(({ name }) => ({
      title: name,
      links: operations
        .filter(({ tags }) => tags[0] === name)
        .map(({ operationId, summary, method, path }) => ({
          href: `${groupPath(name)}#${operationId}`,
          text: summary,
          words: `${operationId} ${method} ${path}`,
        })),
    })),
    {
      title: 'Tables',
      links: [
        {
          href: '/docs/reference/operations',
          text: 'Operations',
          words: 'dry run idempotency-key etag head scope',
        },
        { href: '/docs/problems', text: 'Error codes', words: Object.keys(problems).join(' ') },
        {
          href: '/docs/reference/types',
          text: 'Types',
          words: Object.keys(document.components.schemas).join(' '),
        },
        { href: '/v3/openapi.json', text: 'OpenAPI 3.1 document' },
        { href: '/v3/openapi-3.0.json', text: 'OpenAPI 3.0 document' },
        { href: '/docs/explorer', text: 'Try it out', words: 'swagger ui' },
      ],
    },
  ]
}

const explorerPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Try it out - Pharos API</title><link rel="stylesheet" href="/docs/assets/swagger-ui.css"></head>
<body><div id="docs"></div>
<script src="/docs/assets/swagger-ui.js"></script><script src="/docs/assets/explorer.js"></script></body>
</html>
`

const explorerScript = `SwaggerUIBundle({ url: '/v3/openapi.json', dom_id: '#docs', deepLinking: true, docExpansion: 'list', validatorUrl: null })
`
