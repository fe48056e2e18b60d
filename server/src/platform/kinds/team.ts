// Teams: the provider's customers, which everything else belongs to.
import { sql } from 'kysely'
import { Type } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import { Flag, Name, Optional, Strict, TeamSlug } from '../engine/schema.ts'

const moduleNames = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns', 'sdwan'] as const

const Modules = Type.Array(Type.Enum([...moduleNames]), {
  uniqueItems: true,
  expects: `a list of ${moduleNames.join(', ')}`,
})

export const teamKind = defineKind({
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
  table: {
    name: 'teams',
    id: 'id',
    select: {
      // A deleted zone is served until the catalog zone no longer contains it; a generated one ends with its prefix.
      zones: sql`(select count(*)::integer from dns_zones z
        where z.team_id = t.id and z.claimed is not null and z.withdrawn is null and not z.is_generated)`,
      has_rules: sql`exists (select from shield_rules r where r.team_id = t.id)`,
    },
  },
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
  stateOf: ({ renamed, zones, has_rules }) => ({
    setByOwner: renamed === null ? [] : ['name'],
    inUse: reasonToKeep(zones as number, has_rules as boolean),
  }),
  check(context, elements): void {
    for (const { path, element } of elements)
      context.add(teamKind, path, { ...element, modules: element.modules?.toSorted() })
  },
})

/** A missing line in a file must not stop serving a zone or dropping an attack. */
function reasonToKeep(zones: number, hasRules: boolean): string | null {
  if (zones > 0) return `its zones are served (${zones}); delete them, then apply again`
  return hasRules ? 'it has shield rules; delete them, then apply again' : null
}
