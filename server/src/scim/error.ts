// Errors of SCIM (RFC 7644, 3.12): their own document, with `scimType` for some of the conditions.
import type { Problem } from '@pharos/contract/problem'

const schema = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** Status, scimType and sentence of each condition. */
const conditions = {
  filter: [400, 'invalidFilter', 'The filter could not be parsed. Supported: `eq`, `and`, and parentheses.'],
  filterAttribute: [400, 'invalidFilter', 'The filter names an attribute that cannot be searched.'],
  filterSize: [400, 'invalidFilter', 'The filter is too long or too deep.'],
  path: [400, 'invalidPath', 'The path of an operation could not be parsed.'],
  noTarget: [400, 'noTarget', 'The path of an operation matches no value.'],
  operation: [400, 'invalidSyntax', 'The operations could not be parsed: `op` is add, replace or remove.'],
  syntax: [400, 'invalidSyntax', 'The body is no JSON object of the resource.'],
  value: [400, 'invalidValue', 'An attribute is missing or has an invalid value.'],
  address: [400, 'invalidValue', 'The user has no valid e-mail address, in `emails` or `userName`.'],
  domain: [
    400,
    'invalidValue',
    'The domain of the e-mail address is not verified for the team, or not chosen for this identity provider.',
  ],
  member: [400, 'invalidValue', 'A member of the group is no user of this identity provider.'],
  tooMany: [400, 'tooMany', 'The request has too many values.'],
  taken: [
    409,
    'uniqueness',
    'Another user has this `userName` or e-mail address, or another group this `displayName`.',
  ],
  full: [403, undefined, 'The team has no room for further members. Ask your provider to raise the limit.'],
  quota: [403, undefined, 'This identity provider has its maximum number of users or groups.'],
  unknown: [404, undefined, 'The resource does not exist.'],
  version: [412, undefined, 'The resource was changed since it was read.'],
} as const satisfies Record<string, readonly [status: number, type: string | undefined, detail: string]>

export type ScimCondition = keyof typeof conditions

export class ScimError extends Error {
  readonly condition: ScimCondition

  constructor(condition: ScimCondition, options: ErrorOptions = {}) {
    super(conditions[condition][2], options)
    this.name = 'ScimError'
    this.condition = condition
  }

  get status(): number {
    return conditions[this.condition][0]
  }

  /** The document of the answer. */
  get body(): object {
    const [status, scimType, detail] = conditions[this.condition]
    return { schemas: [schema], status: String(status), ...(scimType ? { scimType } : {}), detail }
  }
}

/** The document of an error that all interfaces have, such as a wrong token or a body that is too large. */
export const errorBody = ({ status, detail, title }: Problem): object => ({
  schemas: [schema],
  status: String(status),
  detail: detail ?? title,
})
