// kfake, the broker in memory of franz-go: listens on a port of this machine until SIGTERM.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port := flag.Int("port", 9092, "the port to listen on")
	topics := flag.String("topics", "t:4", "topics with their numbers of partitions: a:3,b:6")
	flag.Parse()

	options := []kfake.Opt{
		kfake.Ports(*port), kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100 * time.Millisecond),
	}
	for _, topic := range strings.Split(*topics, ",") {
		name, count, _ := strings.Cut(topic, ":")
		partitions, err := strconv.Atoi(count)
		if err != nil {
			log.Fatalf("--topics has %q: write a topic as name:partitions", topic)
		}
		options = append(options, kfake.SeedTopics(int32(partitions), name))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", strings.Join(cluster.ListenAddrs(), " "))
	asked, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	<-asked.Done()
	cluster.Close()
}
