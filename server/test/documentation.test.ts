// The pages under /docs: complete, linked, and sufficient without the source.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { takesIdempotencyKey, takesIfMatch } from '@pharos/contract/answers'
import { problems } from '@pharos/contract/problem'
import { routes } from '@pharos/contract/document/routes'
import { version } from '../src/runtime/version.ts'
import { createTestApi, type TestApi } from './api.ts'

let api: TestApi
/** The pages by path, found by following every link from /docs. */
const pages = new Map<string, string>()

before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: 'https://portal.example.net' })
  const queue = ['/docs']
  for (const path of queue) {
    if (pages.has(path)) continue
    const { statusCode, headers, body } = await api.server.inject(path)
    assert.equal(statusCode, 200, path)
    pages.set(path, body)
    if (!/html/.test(String(headers['content-type']))) continue
    // The portal is excluded.
    for (const [, link] of body.matchAll(/(?:href|src)="(\/[^"#]+)/g)) queue.push(link!)
  }
})
after(() => api[Symbol.asyncDispose]())

const html = () => [...pages].filter(([, body]) => body.startsWith('<!doctype html>'))

describe('the documentation', () => {
  it('has a section for every operation, with a call, the answers and an example', () => {
    const all = html()
      .filter(([path]) => path.startsWith('/docs/reference/'))
      .map(([, body]) => body)
      .join('\n')
    for (const { name, path, permission, response } of routes) {
      const [, section] = all.split(`<h2 id="${name}">`)
      const text = section!.split('<h2 ')[0]!
      assert.ok(text.includes(path), name)
      assert.match(text, /<h3>Answers<\/h3>/, name)
      assert.match(text, /curl -sS .*https:\/\/portal\.example\.net\/v3\//, name)
      assert.doesNotMatch(text.split('curl -sS')[1]!.split('</pre>')[0]!, /\{\w+\}'/, name)
      if (permission.credential === 'any') assert.match(text, /Authorization: Token \$PHAROS_TOKEN/, name)
      if (response) assert.match(text, /<h3>Answer \(\d+\)<\/h3>/, name)
    }
  })

  it('has a table of all operations with their properties', () => {
    const page = pages.get('/docs/reference/operations')!
    const heads = [...page.matchAll(/<th>(.*?)<\/th>/g)].map(([, head]) => head)
    const rows = [...page.matchAll(/<tr><td>.*?<\/tr>/g)].map(([row]) =>
      [...row.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell!),
    )
    assert.deepEqual(heads.slice(3), ['Example', 'Dry run', 'Idempotency-Key', 'ETag', 'If-Match', 'HEAD'])
    const shown = rows.map(([name, , , example, dryRun, key, , ifMatch, head]) => ({
      name: name!.replace(/<.*?>/g, ''),
      marks: [example, dryRun, key, ifMatch, head].map((cell) => cell === 'yes'),
    }))
    const expected = routes.map((route) => ({
      name: route.name,
      marks: [true, route.dryRun, takesIdempotencyKey(route), takesIfMatch(route), route.method === 'GET'],
    }))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    assert.deepEqual(shown.toSorted(byName), expected.toSorted(byName))
  })

  it('leads back to the portal from every page', () => {
    const without = html().filter(
      ([path, body]) => path !== '/docs/explorer' && !body.includes('<a href="/">'),
    )
    assert.deepEqual(
      without.map(([path]) => path),
      [],
    )
  })

  it('says what may change without a version, and for how long something deprecated works', () => {
    const page = pages.get('/docs/versioning')!
    assert.match(page, /for at least 12 months/)
    for (const name of ['Deprecation', 'Sunset', 'Link'])
      assert.match(page, new RegExp(`<code>${name}: `), name)
    assert.match(page, /href="\/docs\/changelog"/)
  })

  it('has the changelog without the entries for operators', () => {
    const page = pages.get('/docs/changelog')!
    assert.match(page, new RegExp(`<h2 id="[^"]+">${version.replaceAll('.', '[.]')}`))
    assert.match(page, /<h3 id="clients-of-the-api">/)
    assert.doesNotMatch(page, /pharos migrate|>Operators</)
  })

  it('has a page for every error code', () => {
    for (const code of Object.keys(problems)) assert.ok(pages.has(`/docs/problems/${code}`), code)
  })

  it('has the document in OpenAPI 3.0, with the URL of this server and every operation', () => {
    const [document, older] = ['/v3/openapi.json', '/v3/openapi-3.0.json'].map(
      (path) =>
        JSON.parse(pages.get(path)!) as { openapi: string; servers: { url: string }[]; paths: object },
    )
    assert.equal(older!.openapi, '3.0.3')
    assert.deepEqual(older!.servers, document!.servers)
    assert.deepEqual(Object.keys(older!.paths), Object.keys(document!.paths))
  })

  it('links only to anchors that exist', () => {
    const missing = html().flatMap(([path, body]) =>
      [...body.matchAll(/href="(\/[^"#]*)?#([^"]+)"/g)]
        .map(([, target = path, anchor]) => [target, anchor!] as const)
        .filter(([target, anchor]) => !pages.get(target)?.includes(`id="${anchor}"`))
        .map(([target, anchor]) => `${path}: ${target}#${anchor}`),
    )
    assert.deepEqual([...new Set(missing)], [])
  })

  it('loads nothing from other hosts, and has no inline scripts or styles', () => {
    for (const [path, body] of html()) {
      assert.doesNotMatch(body, /<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//, path)
      assert.doesNotMatch(body, /<script>|<style|style="|onclick=/, path)
    }
  })

  it('explains what every client needs', () => {
    const guide = pages.get('/docs')!
    for (const section of [
      'Authentication',
      'Lists',
      'Errors',
      'Idempotency',
      'Conditional requests',
      'Dry run',
      'Rate limits',
      'Generate a client',
      'Terraform providers',
    ])
      assert.match(guide, new RegExp(`<h2 id="[a-z-]+">${section}</h2>`))
    assert.match(pages.get('/docs/webhooks')!, /webhook-signature/)
  })
})
