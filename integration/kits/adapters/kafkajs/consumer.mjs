// kafkajs: consumes a topic in a group until SIGTERM. It has neither a cooperative protocol nor static members.
import { parseArgs } from 'node:util'
import kafkajs from 'kafkajs'

const { values: given } = parseArgs({
  options: {
    bootstrap: { type: 'string' },
    group: { type: 'string' },
    topic: { type: 'string' },
    assignor: { type: 'string', default: 'eager' },
    'session-ms': { type: 'string', default: '10000' },
    'heartbeat-ms': { type: 'string', default: '1000' },
    'rebalance-ms': { type: 'string', default: '10000' }
  }
})
if (given.assignor !== 'eager') throw new Error(`kafkajs has no ${given.assignor} protocol: choose eager`)

const client = new kafkajs.Kafka({ brokers: [given.bootstrap], logLevel: kafkajs.logLevel.ERROR })
const consumer = client.consumer({
  groupId: given.group,
  sessionTimeout: Number(given['session-ms']),
  heartbeatInterval: Number(given['heartbeat-ms']),
  rebalanceTimeout: Number(given['rebalance-ms']),
  maxWaitTimeInMs: Number(given['heartbeat-ms']) // it heartbeats between two fetches
})
consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  const owned = Object.entries(payload.memberAssignment).flatMap(([topic, all]) => all.map(index => `${topic}-${index}`))
  console.log(['owned', ...owned.sort()].join(' '))
})
consumer.on(consumer.events.CRASH, ({ payload }) => payload.restart || process.exit(1))
process.once('SIGTERM', () => consumer.disconnect().then(() => process.exit(0)))

await consumer.connect()
await consumer.subscribe({ topics: [given.topic], fromBeginning: true })
await consumer.run({ autoCommitInterval: 1000, eachMessage: async () => {} })
