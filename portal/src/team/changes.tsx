// What an audit entry changed, line by line: removed and added values by the names of their fields.
import { diffLines } from 'diff'
import { linesOf } from './audit-words.ts'
import classes from './team.module.css'

export function Changes({ before, after }: { before: unknown; after: unknown }) {
  return (
    <div className={classes['diff']} tabIndex={0} role="group" aria-label="Changes">
      {diffLines(linesOf(before), linesOf(after)).flatMap(({ added, removed, value }, part) =>
        value
          .replace(/\n$/, '')
          .split('\n')
          .map((line, at) => (
            <div
              key={`${part} ${at}`}
              className={added ? classes['added'] : removed ? classes['removed'] : classes['kept']}
            >
              <span aria-label={added ? 'after' : removed ? 'before' : 'unchanged'}>
                {added ? '+' : removed ? '−' : ' '}
              </span>
              {line}
            </div>
          )),
      )}
    </div>
  )
}
