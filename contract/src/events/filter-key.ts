// The keys by which flows and security events are filtered and grouped: what a query builder needs to know.
import { Type, type Static } from 'typebox'
import { filterOperators, filterValueTypes } from '../flow/flow-key.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Limit,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
} from '../scalar.ts'

export const filterDatasets = ['flows', 'events'] as const
export type FilterDataset = (typeof filterDatasets)[number]

/** The most values that are completed. */
export const filterValuesMax = 50

export const FilterValueChoice = Component('FilterValue', {
  value: Type.String({ description: 'the value of a filter' }),
  label: Type.String({ description: 'name for people' }),
})
export type FilterValueChoice = Static<typeof FilterValueChoice>

export const FilterKey = Component('FilterKey', {
  key: Type.String({
    description: '`key` of a filter of flows, or the parameter of the lists of events',
  }),
  label: Type.String({ description: 'name for people' }),
  description: Type.String({ description: 'what is compared' }),
  dataset: { ...Enumeration('FilterDataset', filterDatasets), description: 'what has the key' },
  type: { ...Enumeration('FilterValueType', filterValueTypes), description: 'the type of its values' },
  operators: Type.Array(Enumeration('FilterOperator', filterOperators), {
    description: 'operators that can be used with the key; empty if it is only for grouping',
  }),
  groupable: Type.Boolean({ description: 'whether `group_by` takes the key' }),
  values: Optional(
    Type.Array(FilterValueChoice, {
      description:
        'all values of a closed list. With `key`: at most 50 values that begin with `prefix` or whose label contains it, the most frequent first',
    }),
  ),
  values_from: Optional(
    Type.String({ description: 'path of a list whose elements are the values, by their id or `cidr`' }),
  ),
})
export type FilterKey = Static<typeof FilterKey>

export const getFilterKeysRoute = route({
  name: 'getFilterKeys',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/filter-keys',
  summary: 'Get Filter Keys',
  description:
    'The keys by which flows (getFlowTimeseries) and security events (listRelatedEvents) are filtered and grouped, with their operators and values. ' +
    'With `key`, values are completed: from the inventory of the team, from its traffic of the last 24 hours, from its events (`source_key`), or from closed lists.',
  permission: { credential: 'any', module: 'lighthouse', scope: 'lighthouse:read', grant: 'lighthouse.see' },
  query: Strict({
    dataset: Optional(
      Repeatable({ ...Enumeration('FilterDataset', filterDatasets), description: 'both by default' }),
    ),
    key: Optional(Type.String({ minLength: 1, maxLength: 50, description: 'only this key, with values' })),
    prefix: Optional(
      Type.String({
        maxLength: 100,
        description: 'with `key`: the beginning of a value, or part of its label',
      }),
    ),
    ordering: Ordering(['dataset', 'key', 'label'], '-dataset,label'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(FilterKey),
  success: 200,
})

export const filterKeyRoutes = [getFilterKeysRoute]
