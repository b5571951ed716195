// sarama: consumes a topic in a group until SIGTERM, and prints the partitions that it owns whenever they change.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/IBM/sarama"
)

func main() {
	bootstrap, group, topic := flag.String("bootstrap", "", ""), flag.String("group", "", ""), flag.String("topic", "", "")
	instance, assignor := flag.String("instance", "", ""), flag.String("assignor", "eager", "")
	session, heartbeat := flag.Int("session-ms", 10000, ""), flag.Int("heartbeat-ms", 1000, "")
	rebalance := flag.Int("rebalance-ms", 10000, "")
	flag.Parse()

	settings := sarama.NewConfig()
	settings.Version = sarama.MaxVersion
	settings.Consumer.Group.InstanceId = *instance
	settings.Consumer.Group.Session.Timeout = milliseconds(*session)
	settings.Consumer.Group.Heartbeat.Interval = milliseconds(*heartbeat)
	settings.Consumer.Group.Rebalance.Timeout = milliseconds(*rebalance)
	settings.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	if *assignor == "cooperative" {
		settings.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	}
	settings.Consumer.Offsets.Initial = sarama.OffsetOldest
	settings.Consumer.Offsets.AutoCommit.Interval = time.Second
	consumer, err := sarama.NewConsumerGroup([]string{*bootstrap}, *group, settings)
	if err != nil {
		log.Fatal(err)
	}
	asked, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	for owned := new(shown); asked.Err() == nil; {
		if err := consumer.Consume(asked, []string{*topic}, owned); errors.Is(err, sarama.ErrFencedInstancedId) {
			log.Fatal(err) // another process has taken its place in the group
		} else if err != nil {
			log.Print(err)
		}
	}
	if err := consumer.Close(); err != nil {
		log.Fatal(err)
	}
}

func milliseconds(count int) time.Duration { return time.Duration(count) * time.Millisecond }

type shown struct {
	sync.Mutex
	owned []string
}

func (*shown) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (*shown) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim runs once for each partition, as long as it is owned.
func (all *shown) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	name := fmt.Sprintf("%s-%d", claim.Topic(), claim.Partition())
	all.show(func() { all.owned = append(all.owned, name) })
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
	}
	all.show(func() { all.owned = slices.DeleteFunc(all.owned, func(each string) bool { return each == name }) })
	return nil
}

func (all *shown) show(change func()) {
	all.Lock()
	defer all.Unlock()
	change()
	slices.Sort(all.owned)
	fmt.Println(strings.Join(append([]string{"owned"}, all.owned...), " "))
}
