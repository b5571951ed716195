// @platformatic/kafka: consumes a topic in a group until SIGTERM.
import { parseArgs } from 'node:util'
import { Consumer } from '@platformatic/kafka'

const { values: given } = parseArgs({
  options: {
    bootstrap: { type: 'string' },
    group: { type: 'string' },
    topic: { type: 'string' },
    instance: { type: 'string' },
    assignor: { type: 'string', default: 'eager' },
    'session-ms': { type: 'string', default: '10000' },
    'heartbeat-ms': { type: 'string', default: '1000' },
    'rebalance-ms': { type: 'string', default: '10000' }
  }
})

// The cause in one line: the kit shows the last lines of a program that ended by itself.
process.on('uncaughtException', error => {
  console.error(`${error}`)
  process.exit(1)
})

const consumer = new Consumer({
  clientId: 'platformatic',
  bootstrapBrokers: [given.bootstrap],
  groupId: given.group,
  ...(given.instance && { groupInstanceId: given.instance }),
  ...(given.assignor === 'cooperative' && { protocols: [{ name: 'cooperative-sticky', version: 3 }] }),
  sessionTimeout: Number(given['session-ms']),
  heartbeatInterval: Number(given['heartbeat-ms']),
  rebalanceTimeout: Number(given['rebalance-ms'])
})
consumer.on('consumer:group:join', ({ assignments }) => {
  const owned = (assignments ?? []).flatMap(({ topic, partitions }) => partitions.map(index => `${topic}-${index}`))
  console.log(['owned', ...owned.sort()].join(' '))
})

const stream = await consumer.consume({
  topics: [given.topic],
  mode: 'committed',
  fallbackMode: 'earliest',
  autocommit: 1000,
  maxWaitTime: 500
})
process.once('SIGTERM', () => consumer.close(true).then(() => process.exit(0)))
for await (const _ of stream);
