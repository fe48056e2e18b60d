// Compares a platform document with the schemas of the kinds, element by element.
import { didYouMean } from '../../text/did-you-mean.ts'
import { createSchemaCheck, describeProblem } from '../../text/schema-error.ts'
import type { Element, Kind } from './kind.ts'
import type { Path, Problem } from './problem.ts'
import type { Registry } from './registry.ts'

export type Shaped = {
  /** The elements of each section that have the right shape. */
  readonly elements: ReadonlyMap<string, readonly Element[]>
  /** The sections that the document has, empty ones included: only these are pruned. */
  readonly present: ReadonlySet<string>
  readonly problems: readonly Problem[]
}

export function readShape({ kinds, sections }: Registry, value: unknown): Shaped {
  const problems: Problem[] = []
  const elements = new Map<string, readonly Element[]>()
  if (value !== undefined && value !== null && !isRecord(value)) {
    problems.push({ path: [], message: `the document must be a map of sections: ${sections.join(', ')}` })
  }
  for (const [section, list] of Object.entries(isRecord(value) ? value : {})) {
    const kind = kinds.find((one) => one.section === section && one.element)
    if (!kind) {
      const message = `unknown section ${section}${didYouMean(section, sections)}; sections are ${sections.join(', ')}`
      problems.push({ path: [section], message, atKey: true })
    } else if (list !== null && !Array.isArray(list) && !(kind.isSingle && isRecord(list))) {
      problems.push({
        path: [section],
        message: `${section} must be a list: each ${kind.name} starts with "- "`,
      })
    } else {
      const all = isRecord(list)
        ? [{ path: [section], element: list as unknown }]
        : ((list ?? []) as unknown[]).map((element, at) => ({ path: [section, at], element }))
      const wrong = new Map(all.map(({ path, element }) => [path, problemsOf(kind, path, element)]))
      problems.push(...[...wrong.values()].flat())
      elements.set(
        section,
        all.filter(({ path }) => wrong.get(path)!.length === 0),
      )
    }
  }
  return { elements, present: new Set(elements.keys()), problems }
}

const checks = new WeakMap<Kind, ReturnType<typeof createSchemaCheck>>()

/** The check of a kind's schema, compiled once. */
function schemaCheckOf(kind: Kind): ReturnType<typeof createSchemaCheck> {
  const check = checks.get(kind) ?? createSchemaCheck(kind.element!, { showValues: true })
  checks.set(kind, check)
  return check
}

function problemsOf(kind: Kind, path: Path, element: unknown): Problem[] {
  return schemaCheckOf(kind)(element).map((problem) => ({
    path: [...path, ...problem.path],
    message: describeProblem(problem, kind.name),
    atKey: problem.type === 'unknown',
  }))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
