// Teams: the provider's customers, which everything else belongs to.
import { Type } from 'typebox'
import { defineKind } from '../define-kind.ts'
import { column, mapped } from '../field.ts'
import { Flag, Name, Optional, Strict, TeamSlug } from '../schema.ts'

const moduleNames = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns', 'sdwan'] as const

const Modules = Type.Array(Type.Enum([...moduleNames]), {
  uniqueItems: true,
  expects: `a list of ${moduleNames.join(', ')}`,
})

export const team = defineKind({
  name: 'team',
  plural: 'teams',
  section: 'teams',
  element: Strict({
    slug: TeamSlug,
    name: Name,
    modules: Optional(Modules),
    enable_dns: Optional(Flag),
    enable_sdwan: Optional(Flag),
  }),
  table: { name: 'teams', id: 'id' },
  identity: ['slug'],
  fields: {
    slug: column('teams', 'slug'),
    name: mapped('teams', ['name', 'renamed'], {
      read: ({ name }) => name,
      write: (name) => ({ name, renamed: null }),
      isShown: true,
    }),
    modules: mapped('teams', ['enabled_modules'], {
      read: ({ enabled_modules }): readonly string[] => enabled_modules.toSorted(),
      write: (modules) => ({ enabled_modules: modules }),
      initial: [],
    }),
    enable_dns: column('teams', 'enable_dns', { initial: false }),
    enable_sdwan: column('teams', 'enable_sdwan', { initial: false }),
  },
  stateOf: ({ renamed }) => ({ setByOwner: renamed === null ? [] : ['name'] }),
  check(context, elements): void {
    for (const { path, element } of elements)
      context.add(team, path, { ...element, modules: element.modules?.toSorted() })
  },
})
