// franz-go: consumes a topic in a group until SIGTERM, and prints the partitions that it owns whenever they change.
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
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	bootstrap, group, topic := flag.String("bootstrap", "", ""), flag.String("group", "", ""), flag.String("topic", "", "")
	instance, assignor := flag.String("instance", "", ""), flag.String("assignor", "eager", "")
	session, heartbeat := flag.Int("session-ms", 10000, ""), flag.Int("heartbeat-ms", 1000, "")
	rebalance := flag.Int("rebalance-ms", 10000, "")
	flag.Parse()

	balancer := map[string]kgo.GroupBalancer{"eager": kgo.RangeBalancer(), "cooperative": kgo.CooperativeStickyBalancer()}
	owned := shown{}
	options := []kgo.Opt{
		kgo.SeedBrokers(*bootstrap), kgo.ConsumerGroup(*group), kgo.ConsumeTopics(*topic), kgo.Balancers(balancer[*assignor]),
		kgo.SessionTimeout(milliseconds(*session)), kgo.HeartbeatInterval(milliseconds(*heartbeat)),
		kgo.RebalanceTimeout(milliseconds(*rebalance)), kgo.AutoCommitInterval(time.Second),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(500 * time.Millisecond),
		kgo.OnPartitionsAssigned(owned.add), kgo.OnPartitionsRevoked(owned.remove), kgo.OnPartitionsLost(owned.remove),
	}
	if *instance != "" {
		options = append(options, kgo.InstanceID(*instance))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		log.Fatal(err)
	}
	asked, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	for asked.Err() == nil {
		fetches := client.PollFetches(asked)
		if asked.Err() == nil {
			fetches.EachError(func(_ string, _ int32, err error) { report(err) })
		}
	}
	client.Close()
}

// report prints an error, and ends the process where it says that another one has taken its place in the group.
func report(err error) {
	if errors.Is(err, kerr.FencedInstanceID) {
		log.Fatal(err)
	}
	log.Print(err)
}

func milliseconds(count int) time.Duration { return time.Duration(count) * time.Millisecond }

type shown map[string]bool

func (owned shown) add(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	owned.set(added, true)
}
func (owned shown) remove(_ context.Context, _ *kgo.Client, removed map[string][]int32) {
	owned.set(removed, false)
}

func (owned shown) set(changed map[string][]int32, isOwned bool) {
	for topic, indexes := range changed {
		for _, index := range indexes {
			owned[fmt.Sprintf("%s-%d", topic, index)] = isOwned
		}
	}
	names := []string{}
	for name, isOwned := range owned {
		if isOwned {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	fmt.Println(strings.Join(append([]string{"owned"}, names...), " "))
}
