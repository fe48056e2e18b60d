// Example of a platform document over HTTP.
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'
import { applyPlatformRoute, type PlatformPlan } from '../operator/platform.ts'

const plan: PlatformPlan = {
  applied: true,
  changes: [
    {
      action: 'create',
      kind: 'location',
      key: 'fra',
      fields: [
        { field: 'key', before: null, after: 'fra' },
        { field: 'name', before: null, after: 'Frankfurt' },
        { field: 'country', before: null, after: 'DE' },
        { field: 'timezone', before: null, after: 'Europe/Berlin' },
        { field: 'managed_by', before: null, after: 'platform' },
      ],
    },
  ],
  unchanged: 0,
  notices: [],
  held: [],
  evidence: null,
}

export const platformExamples = [
  example(applyPlatformRoute, {
    body: { locations: [{ key: 'fra', name: 'Frankfurt', country: 'DE', timezone: 'Europe/Berlin' }] },
    response: plan,
    changes: changesBetween({}, { ...plan, applied: false }),
  }),
]
