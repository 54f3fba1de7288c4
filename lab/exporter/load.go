package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// load creates ConfigMaps with a generateName at a steady speed.
type load struct {
	namespace, prefix string
	perSecond         float64
	lasts             time.Duration
	lives             time.Duration // after which each is deleted; 0 for never
}

// n returns the number of objects that it creates.
func (l load) n() int { return int(l.perSecond * l.lasts.Seconds()) }

// run creates all.
func (l load) run(ctx context.Context, c *cluster) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(1000)
	configMaps := c.client.CoreV1().ConfigMaps(l.namespace)
	began := time.Now()
	for i := range l.n() {
		sleep(running, time.Until(began.Add(time.Duration(float64(i)/l.perSecond*float64(time.Second)))))
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			created, err := configMaps.Create(running, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{GenerateName: l.prefix},
			}, metav1.CreateOptions{FieldManager: "leaky-operator"})
			if err != nil || l.lives == 0 {
				return err
			}
			sleep(running, l.lives)
			return configMaps.Delete(running, created.Name, metav1.DeleteOptions{})
		})
	}
	return group.Wait()
}
