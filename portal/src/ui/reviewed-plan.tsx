// A plan that a user reviews before it is applied: it does not change after it was read, and exactly this plan is applied. If someone else
// has saved meanwhile, it is not applied, and the new plan can be loaded.
import { Button, Group, Skeleton, Stack } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { teamIdNow } from '../api/queries.ts'
import { isPreconditionFailed, useNewerVersion } from './newer-version.tsx'
import { Problem } from './problem.tsx'
import { words } from './words.ts'

type ReviewedPlanProps<Plan> = {
  /** Names the plan in the cache. */
  readonly queryKey: readonly unknown[]
  /** Name of the changed object. */
  readonly name: string
  /** Requests the plan, with the ETag that it is made from. */
  readonly read: () => Promise<Plan>
  /** Applies it if the ETag is still the same. */
  readonly apply: (etag: string) => Promise<unknown>
  readonly onApplied: () => unknown
  readonly onClose: () => void
  readonly action: string
  readonly color?: string
  readonly children: (plan: Plan) => ReactNode
}

export function ReviewedPlan<Plan extends { readonly etag: string }>(props: ReviewedPlanProps<Plan>) {
  const { queryKey, name, read, onApplied, onClose, action, color, children } = props
  const plan = useQuery({
    queryKey: [teamIdNow(), ...queryKey],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: read,
  })
  const apply = useMutation({ mutationFn: props.apply, onSuccess: onApplied })
  const isOutdated = isPreconditionFailed(apply.error)
  const newer = useNewerVersion({
    isNewer: isOutdated,
    isEdited: true,
    load: () => {
      apply.reset()
      void plan.refetch()
    },
    name,
  })
  return (
    <Stack>
      {plan.error && <Problem error={plan.error} retry={() => plan.refetch()} />}
      {plan.isFetching ? <Skeleton height={80} /> : plan.data && children(plan.data)}
      {newer}
      {apply.error && !isOutdated && <Problem error={apply.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {words.cancel}
        </Button>
        <Button
          {...(color === undefined ? {} : { color })}
          disabled={!plan.data || plan.isFetching || isOutdated}
          loading={apply.isPending}
          onClick={() => plan.data && apply.mutate(plan.data.etag)}
        >
          {action}
        </Button>
      </Group>
    </Stack>
  )
}
