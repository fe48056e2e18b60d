// Compiles a statement whose template contains only values, not fragments, once for its place in the source: the query builder
// walks through every template again for each request, which takes microseconds even for a short one.
import {
  ValueNode,
  type CompiledQuery,
  type QueryExecutorProvider,
  type RawBuilder,
  type RawNode,
} from 'kysely'

/** The texts of the templates, by the list of their parts: a template literal has the same one each time. */
const texts = new WeakMap<readonly string[], string>()

/** Returns the text and the parameters of a statement, as its own method `compile` does. */
export function compileQuickly<R>(
  query: RawBuilder<R>,
  db: QueryExecutorProvider,
): Pick<CompiledQuery<R>, 'sql' | 'parameters'> {
  const { sqlFragments, parameters: nodes } = query.toOperationNode() as RawNode
  const parameters: unknown[] = []
  for (const node of nodes) {
    if (!ValueNode.is(node) || node.immediate === true) return query.compile(db)
    parameters.push(node.value)
  }
  const known = texts.get(sqlFragments)
  if (known !== undefined) return { sql: known, parameters }
  const compiled = query.compile(db)
  if ('raw' in sqlFragments) texts.set(sqlFragments, compiled.sql)
  return compiled
}
