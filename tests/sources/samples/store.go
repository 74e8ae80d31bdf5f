// Package store keeps rows.
package store

import (
	"fmt"
	x "a/b"
)

// Get finds one row.
// It may be slow.
func (s *Store) Get(id int) error {
}

func hidden() {}

type Row struct {
}
