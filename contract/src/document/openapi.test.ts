import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { openapi } from './openapi.ts'
import { route } from '../route.ts'
import { Component, Optional, Page } from '../scalar.ts'

const Router = Component('Router', { name: Type.String() })

const listRoutersRoute = route({
  name: 'listRouters',
  group: 'BYOIP',
  method: 'GET',
  path: '/routers',
  summary: '',
  description: '',
  permission: { credential: 'none' },
  response: Page(Router),
  success: 200,
})

const updateRouterRoute = route({
  ...listRoutersRoute,
  name: 'updateRouter',
  method: 'PATCH',
  body: Component('RouterChanges', { name: Optional(Type.String()) }),
  response: Type.Object({ router: Router }),
  dryRun: true,
})

type Components = { components: { schemas: Record<string, unknown> } }

describe('the components of the document', () => {
  const { components } = openapi([listRoutersRoute, updateRouterRoute], { version: '1' }) as Components

  it('are named after the schemas, pages and operations', () => {
    assert.deepEqual(Object.keys(components.schemas), [
      'FieldChange',
      'Problem',
      'ProblemCode',
      'ProblemError',
      'Router',
      'RouterChanges',
      'RouterPage',
      'UpdateRouterResponse',
      'UpdateRouterResponseDryRun',
    ])
  })

  it('refer to each other', () => {
    const { properties } = components.schemas['UpdateRouterResponse'] as { properties: object }
    assert.deepEqual(properties, { router: { $ref: '#/components/schemas/Router' } })
  })

  it('are rejected if two schemas have one name', () => {
    const other = {
      ...listRoutersRoute,
      path: '/others',
      response: Component('Router', { id: Type.Integer() }),
    }
    assert.throws(
      () => openapi([listRoutersRoute, other], { version: '1' }),
      /two schemas have the title Router/,
    )
  })
})
