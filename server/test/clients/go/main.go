// A program with the client that oapi-codegen generates from the document in OpenAPI 3.0: prints the scopes of its token, whether it
// has a user, and the announcements.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
)

func main() {
	ctx := context.Background()
	signIn := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Token "+os.Getenv("PHAROS_TOKEN"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("PHAROS_URL"), WithRequestEditorFn(signIn))
	if err != nil {
		log.Fatal(err)
	}
	token, err := client.GetSessionTokenWithResponse(ctx, &GetSessionTokenParams{})
	if err != nil || token.JSON200 == nil {
		log.Fatal(err, string(token.Body))
	}
	limit := int32(2)
	page, err := client.ListAnnouncementsWithResponse(ctx, &ListAnnouncementsParams{Limit: &limit})
	if err != nil || page.JSON200 == nil {
		log.Fatal(err, string(page.Body))
	}
	cidrs := []string{}
	for _, one := range page.JSON200.Results {
		cidrs = append(cidrs, one.Cidr)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"scopes":  token.JSON200.Token.Scopes,
		"hasUser": token.JSON200.User != nil,
		"count":   page.JSON200.Count,
		"cidrs":   cidrs,
	})
}
