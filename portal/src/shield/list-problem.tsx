// A list that was rejected: each error with its rule, named by the place that the list shows.
import { Alert } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { errorSentence } from '../ui/form-errors.ts'
import { problemText } from '../ui/problem-text.ts'
import { Problem } from '../ui/problem.tsx'
import { placeOf } from './effect.tsx'
import classes from './shield.module.css'
import { words } from './words.ts'

type ListProblemProps = { readonly error: unknown; readonly retry?: () => unknown }

export function ListProblem({ error, retry }: ListProblemProps) {
  const errors = error instanceof ProblemError ? (error.problem.errors ?? []) : []
  if (!errors.some(({ loc }) => placeOf(loc) !== undefined))
    return <Problem error={error} {...(retry ? { retry } : {})} />
  return (
    <Alert color="bad" title={problemText(error).title} role="alert">
      <ul className={classes['warnings']}>
        {errors.map((one) => {
          const place = placeOf(one.loc)
          const other = one.ctx?.['other']
          return (
            <li key={`${one.type} ${one.loc.join('.')}`}>
              {place !== undefined && <strong>{words.effect.ofRule(place + 1)}: </strong>}
              {one.type === 'cannot_order' && typeof other === 'number'
                ? words.reasons.cannotOrder(other + 1)
                : errorSentence(words.editor.rule, one)}
            </li>
          )
        })}
      </ul>
    </Alert>
  )
}
