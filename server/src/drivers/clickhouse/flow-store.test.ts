import { flowStoreConformance } from '../../flow/flow-store.conformance.ts'
import { createTestFlowStore, flowsBlock } from './testing.ts'

flowStoreConformance(
  process.env.PHAROS_TEST_CLICKHOUSE_URL ? 'on a server' : 'on the embedded ClickHouse',
  async () => {
    const store = await createTestFlowStore()
    return { store, block: flowsBlock, stop: () => store.close() }
  },
)
