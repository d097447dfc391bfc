package cmd

import "github.com/spf13/cobra"

func newDemo(w World, place *placeFlags) *cobra.Command { return &cobra.Command{Use: "demo"} }
