// The traffic of a request, kept on the screen while the next one loads, and the keys by which it can be grouped and filtered.
import {
  getFlowGraphRoute,
  getFlowTimeseriesRoute,
  type FlowGraphRequest,
  type FlowTimeseries,
  type FlowTimeseriesRequest,
} from '@pharos/contract/flow/flow'
import { getFilterKeysRoute, type FilterKey } from '@pharos/contract/events/filter-key'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOverLastOf, useAnswer } from '../api/queries.ts'

const refetchMs = 15_000

/** Requests traffic; an answer up to now is polled, as the stream does not announce flows. */
export const useFlows = (request: FlowTimeseriesRequest, isUpToNow: boolean, isEnabled = true) =>
  useQuery({
    ...answerOverLastOf(getFlowTimeseriesRoute, { body: request }),
    enabled: isEnabled,
    refetchInterval: isUpToNow ? refetchMs : false,
  })

/** Requests the flow diagram of a view. */
export const useFlowGraph = (request: FlowGraphRequest, isUpToNow: boolean, isEnabled: boolean) =>
  useQuery({
    ...answerOverLastOf(getFlowGraphRoute, { body: request }),
    enabled: isEnabled,
    refetchInterval: isUpToNow ? refetchMs * 4 : false,
  })

export type FlowKeys = {
  readonly list: readonly FilterKey[]
  /** Returns the name of a key for people; an unknown key becomes readable words. */
  readonly labelOf: (key: string) => string
  readonly find: (key: string) => FilterKey | undefined
  readonly isLoading: boolean
  readonly error: unknown
  readonly retry: () => unknown
}

export function useFlowKeys(): FlowKeys {
  const answer = useAnswer(getFilterKeysRoute, { query: { dataset: ['flows'], limit: 200 } })
  return useMemo(() => {
    const list = answer.data?.results ?? []
    const byKey = new Map(list.map((one) => [one.key, one]))
    return {
      list,
      find: (key) => byKey.get(key),
      labelOf: (key) => byKey.get(key)?.label ?? readable(key),
      isLoading: answer.isPending,
      error: answer.data ? undefined : answer.error,
      retry: () => answer.refetch(),
    }
  }, [answer.data, answer.error, answer.isPending])
}

const readable = (key: string) => {
  const text = key.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns the times of an answer in milliseconds. */
export const timesOf = ({ timestamps }: Pick<FlowTimeseries, 'timestamps'>): readonly number[] =>
  timestamps.map((at) => Date.parse(at))
